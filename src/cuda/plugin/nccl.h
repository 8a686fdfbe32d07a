// NCCL, for collectives of groups of ranks whose GPUs are those of one process, each collective one
// call for all; or those of several processes, each with one, which send to each other by it, too.
// Each group has a communicator, by which it is told apart from others. The library is loaded when
// it is first wanted.
//
// Kernels of two communicators on one GPU may each wait for other GPUs, and one of them for room.
// NCCL is told to start them in the order of their calls: where all ranks call in one order, none
// waits for ever (NCCL's user guide, "Using multiple NCCL communicators concurrently"). Ranks of a
// pipeline call in an order each. It comes to an end where each send and receive of a rank waits
// for the end of the one before, as on one stream; that it waits for its beginning asks for less.
//
// Communicators block. Of others NCCL starts each kernel from a thread that it makes for it
// (groupLaunchNonBlocking in its group.cc): that takes time, and the tracer could not say whose
// call the kernel is. What could block for ever, since a rank does not come, is done on a thread
// that can be left behind: making a communicator, and connecting.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/device_calls.h"
#include "cuda/plugin/handles.h"
#include "cuda/plugin/library.h"

namespace trainscope::cuda {

class Nccl {
 public:
  // Communicators of these groups, whose GPUs are the driver's; a group without any has none.
  explicit Nccl(const std::vector<RankGroup>& groups);
  // Of the groups that this process's rank is in, which is on this GPU of the driver.
  Nccl(int gpu, const Peers& peers);
  // Ends what is still under way.
  ~Nccl();
  Nccl(const Nccl&) = delete;

  // Why it cannot be used, in a sentence; empty: it can.
  const std::string& why_not() const { return why_not_; }

  // It failed, and its communicators were given up: another one can be made.
  bool is_aborted() const {
    const std::lock_guard held(mutex_);
    return why_not_.empty() && is_aborted_;
  }

  const std::vector<RankGroup>& groups() const { return groups_; }
  int ranks_elsewhere() const { return elsewhere_; }

  struct Share {
    const void* give = nullptr;  // null: nothing, as below
    void* get = nullptr;
    cudaStream_t stream = nullptr;
    bool maximum = false;
  };
  // Of a group, by its place: its ranks that are here; `units` are those of the larger buffer.
  // Throws Error.
  void carry_out(std::size_t group, program::CollectiveKind kind, CollectiveUnit unit,
                 std::size_t units, const std::vector<Share>& ranks);

  // While someone has waited since `begun` for a stream that collectives are on: throws Error when
  // a communicator has failed, when a rank of another process is known to come no more, or after
  // the time-out, and ends all that is under way.
  void require_alive(Nanos begun);

 private:
  struct Functions;
  struct Start;
  struct Communicator {
    std::vector<void*> ranks;  // ncclComm_t, of those that are here
    int place = 0;             // among its ranks, of the first one that is here
    int gpu = 0;               // that one's, as the driver counts
    OwnedEvent done;           // of the last collective, on that
  };
  struct Failed {
    int status = 0;  // an ncclResult_t
    std::size_t group = 0;
  };

  bool load();
  static std::string why_not_with(const Functions& functions);
  void init_here(std::size_t group);
  void join(int gpu, const Peers& peers);
  std::string make_id(std::size_t group);
  bool all_go_on(const Peers& peers);
  void init_rank(std::size_t group, const Peers& peers, int gpu, const std::string& id);
  std::string why_in_vain(std::size_t group, const Peers& peers, Nanos begun);
  std::string time_out_words() const;
  void refuse(int status, const char* call, std::size_t group, const std::string& words);
  void require(const Failed& what, const char* call, const char* file, int line);
  Failed state();
  std::string under_way() const;
  void abort();
  std::string look_at_others(Nanos begun);

  std::vector<RankGroup> groups_;
  int elsewhere_ = 0;
  Library library_;
  std::unique_ptr<Functions> functions_;
  std::string why_not_;
  mutable std::mutex mutex_;
  bool is_aborted_ = false;
  std::vector<Communicator> communicators_;  // by group
  std::function<std::string()> look_;
  Nanos time_out_ = Peers::kTimeOut;
  std::atomic<Nanos> looked_ = 0;
};

}  // namespace trainscope::cuda
