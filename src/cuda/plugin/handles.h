// What the CUDA runtime hands out, each owned by one object that gives it back. Giving back ignores
// errors: a device that is lost has taken it already.
#pragma once

#include <cuda_runtime.h>

#include <utility>

#include "cuda/plugin/require.h"

namespace trainscope::cuda {

// Move-only. `Destroy` gives a handle back.
template <typename Handle, cudaError_t (*Destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_) Destroy(handle_);
  }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};

using OwnedStream = Owned<cudaStream_t, cudaStreamDestroy>;
using OwnedEvent = Owned<cudaEvent_t, cudaEventDestroy>;
using OwnedGraph = Owned<cudaGraph_t, cudaGraphDestroy>;
using OwnedGraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

inline OwnedEvent make_event(unsigned flags) {
  cudaEvent_t event = nullptr;
  TRAINSCOPE_CUDA(cudaEventCreateWithFlags(&event, flags));
  return OwnedEvent(event);
}

}  // namespace trainscope::cuda
