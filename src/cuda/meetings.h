// Where the ranks of a process meet before a collective: nothing of it is put on any stream before
// the last of them has called for it. Ranks of other processes are not waited for here.
//
// A stream cannot wait for an event that nobody has recorded yet, and kernels that look for each
// other in a loop need room on the device for all of them at once, which ranks that share a GPU do
// not have. So it is the ranks' host threads that wait, and who comes last does the work for all.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cuda/activity.h"
#include "cuda/device_calls.h"
#include "cuda/host_waits.h"
#include "program/program.h"

namespace trainscope::cuda {

// A rank's call of a collective.
struct RankCall {
  int rank = 0;
  CallId call = 0;
  std::uint16_t line = 0;
  const program::Collective* collective = nullptr;
};

class Meetings {
 public:
  static constexpr Nanos kTimeOut = Peers::kTimeOut;

  // All must outlive it. `time_out` is on the device's clock.
  Meetings(const program::Program& program, DeviceCalls& device, HostWaits& waits,
           Nanos time_out = kTimeOut);

  // Calls of ranks that this thread makes, all of one collective. Returns once it is on every
  // rank's stream: `carry_out` is called once, with the calls by rank, on the thread that comes
  // last. Throws InputError for ranks that do not call for the same, Error for ranks that do not
  // come in time, naming those that wait and those that are missing; Abandoned.
  void arrive(const std::vector<RankCall>& calls,
              const std::function<void(const std::vector<RankCall>&)>& carry_out);

 private:
  using Key = std::pair<program::Index, std::int64_t>;  // communicator, sequence
  struct Meeting {
    std::vector<RankCall> calls;
    Nanos first = 0;  // when the first came
    bool done = false;
    std::size_t present = 0;  // threads
  };

  void add(const Key& key, const std::vector<RankCall>& calls);
  void require_same(const RankCall& known, const RankCall& other) const;
  void require_in_time(const Key& key, const Meeting& meeting);
  std::string standstill() const;
  std::string who_waits(const Key& key, const Meeting& meeting) const;
  bool is_complete(const Key& key, const Meeting& meeting) const;

  const program::Program& program_;
  DeviceCalls& device_;
  HostWaits& waits_;
  Nanos time_out_;
  std::map<Key, Meeting> meetings_;  // of collectives under way; changed by waits_.change alone
};

}  // namespace trainscope::cuda
