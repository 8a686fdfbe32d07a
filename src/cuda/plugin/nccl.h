// NCCL, for collectives of the GPUs of one process: a communicator for all, each collective one
// group; or of the GPUs of several processes, each with one. The library is loaded when it is first
// wanted.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/device_calls.h"
#include "cuda/plugin/library.h"

namespace trainscope::cuda {

class Nccl {
 public:
  // A communicator of these GPUs of the driver, in the order of their ranks.
  explicit Nccl(const std::vector<int>& gpus);
  // This process's rank is on this GPU.
  Nccl(int gpu, const Peers& peers);
  // Ends what is still under way.
  ~Nccl();
  Nccl(const Nccl&) = delete;

  // Why it cannot be used, in a sentence; empty: it can.
  const std::string& why_not() const { return why_not_; }

  // It failed, and its communicators were given up: another one can be made.
  bool is_aborted() const {
    const std::lock_guard held(mutex_);
    return why_not_.empty() && communicators_.empty();
  }

  std::size_t ranks() const { return ranks_; }
  int ranks_elsewhere() const { return elsewhere_; }

  struct Share {
    const void* give = nullptr;
    void* get = nullptr;
    cudaStream_t stream = nullptr;
  };
  // By rank, of those that are here; `units` are those of the larger buffer. Throws Error.
  void carry_out(program::CollectiveKind kind, CollectiveUnit unit, std::size_t units,
                 const std::vector<Share>& ranks);

  // While someone has waited since `begun` for a stream that collectives are on: throws Error when
  // a communicator has failed, when a rank of another process is known to come no more, or after
  // the time-out, and ends all that is under way.
  void require_alive(Nanos begun);

 private:
  struct Functions;
  bool load();
  void refuse(int status, const char* call);
  void require(int status, const char* call, const char* file, int line);
  int state();  // an ncclResult_t
  void abort();
  std::string look_at_others(Nanos begun);

  std::size_t ranks_ = 0;
  int elsewhere_ = 0;
  Library library_;
  std::unique_ptr<Functions> functions_;
  std::string why_not_;
  mutable std::mutex mutex_;
  std::vector<void*> communicators_;  // ncclComm_t, by rank
  std::function<std::string()> look_;
  std::atomic<Nanos> looked_ = 0;
};

}  // namespace trainscope::cuda
