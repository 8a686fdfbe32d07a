// Work of the GPUs that stand in, each behind other work, carried out by one thread: of what may
// run, a seeded generator takes the next.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "base/time.h"

namespace trainscope::stand_in {

enum class WorkKind { kMark, kKernel, kCopy, kPeerCopy, kFill };

struct Op;
using OpRef = std::shared_ptr<Op>;

struct Work {
  WorkKind kind = WorkKind::kMark;
  std::string name = {};
  std::function<void()> run = {};  // may throw: then the device is lost
  std::array<unsigned, 3> blocks{};
  std::array<unsigned, 3> threads{};
  std::size_t shared_bytes = 0;
  std::size_t bytes = 0;
  int from = 0;  // a CUpti_ActivityMemoryKind
  int to = 0;
  std::uint32_t graph = 0;  // an executable one, that it was launched with
  std::uint64_t node = 0;   // of it
  OpRef since = {};         // it is told as work that began with this
};

struct Op {
  Work work;
  int gpu = 0;
  std::uint32_t correlation = 0;
  int behind = 0;  // as many are not done yet
  bool is_held = false;
  std::vector<std::shared_ptr<Op>> after = {};
  bool done = false;
  Nanos begun = 0;  // on the host's clock
  Nanos ended = 0;
};

class Queue {
 public:
  // `tell` is called with each that was carried out, on the queue's thread.
  explicit Queue(std::function<void(const Op&)> tell);

  OpRef add(Work work, int gpu, std::uint32_t correlation, const std::vector<OpRef>& behind);
  // A mark that is held, until somebody releases it or the device is lost.
  OpRef add_held();
  void release(const OpRef& op);
  // None: at once.
  void wait(const OpRef& op);
  bool is_done(const OpRef& op);
  void wait_for_all();

  // Why nothing is carried out any more; empty: it is.
  std::string failure() const;

 private:
  void work();
  OpRef next();
  void finish(const OpRef& op);
  void let_go(const OpRef& op);

  std::function<void(const Op&)> tell_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937 random_;
  std::vector<OpRef> ready_;
  std::vector<OpRef> held_;
  std::size_t open_ = 0;  // not done yet
  int waiting_ = 0;       // threads that do
  int asked_ = 0;         // late: pieces of work that may be done though nobody waits
  long kernels_ = 0;
  std::string failure_;
};

// CLOCK_MONOTONIC_RAW.
Nanos host_time();

}  // namespace trainscope::stand_in
