// One rank at a meeting: what it gives goes there, and what it gets comes back on a thread of its
// own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "stand_in/meeting.h"

namespace trainscope::stand_in {

class Member {
 public:
  struct Place {
    int rank = 0;
    int ranks = 1;
    int gpu = 0;  // of the machine
  };
  // Goes there, and waits until all ranks have come, or cannot come any more.
  Member(const std::string& meeting, const Place& place);
  ~Member();
  Member(const Member&) = delete;

  enum class State { kWaits, kWell, kBroken, kGone };
  State state() const;
  std::string why() const;  // where it is not well

  // The next collective: `get` is called once, with what this rank gets, or after abort() with
  // nothing. The one before is over.
  using Get = std::function<void(const std::vector<float>&)>;
  void give(const Asked& asked, const std::vector<float>& numbers, Get get);

  // Hangs up without a word.
  void abort();
  // Says that it wants no more. Waits, not for long, until others have what they need.
  void leave();

 private:
  void listen();
  void handle(const MessageHead& head, const std::string& body);
  void end(State state, const std::string& why);
  bool send(const MessageHead& head, const std::string& body);

  int way_;
  Place place_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::kWaits;
  std::string why_;
  bool is_aborted_ = false;
  bool has_somebody_left_ = false;
  bool is_bye_answered_ = false;
  std::uint64_t sequence_ = 0;
  Get get_;  // of the collective that is under way
  std::thread listener_;
};

}  // namespace trainscope::stand_in
