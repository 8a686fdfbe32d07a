// The functions of the CUDA runtime that the plug-in calls: memory, its pools, copies.

#include <cuda_runtime.h>

#include <cstring>
#include <vector>

#include "stand_in/calls.h"
#include "stand_in/machine.h"
#include "stand_in/options.h"

using namespace trainscope;
using stand_in::breaks;
using stand_in::machine;
using stand_in::Where;
using stand_in::Work;
using stand_in::WorkKind;

// Of a GPU; its number is all there is to it.
struct CUmemPoolHandle_st {
  int gpu;
};

namespace {

CUmemPoolHandle_st& pool_of(int gpu) {
  static auto& pools = *new std::map<int, CUmemPoolHandle_st>;
  static std::mutex mutex;
  const std::lock_guard held(mutex);
  return pools.try_emplace(gpu, CUmemPoolHandle_st{gpu}).first->second;
}

// As CUpti_ActivityMemoryKind has them.
int kind_of(Where where) {
  return where == Where::kPageable ? 1 : where == Where::kPinned ? 2 : 3;
}

cudaMemcpyKind direction(Where from, Where to) {
  const bool from_device = from == Where::kDevice, to_device = to == Where::kDevice;
  return from_device && to_device ? cudaMemcpyDeviceToDevice
         : to_device              ? cudaMemcpyHostToDevice
         : from_device            ? cudaMemcpyDeviceToHost
                                  : cudaMemcpyHostToHost;
}

// Between GPUs.
enum class Way { kReached, kThroughHost };

// The runtime's reference, "API synchronization behavior": from pageable memory the bytes are
// taken before the call returns; to pageable memory it returns when they are there.
cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                 cudaStream_t stream, Way way = Way::kReached) {
  const auto source = machine().memory().where(from, bytes);
  const auto target = machine().memory().where(to, bytes);
  if (!source || !target)
    return breaks(cudaErrorInvalidValue, "a copy goes beyond the piece of memory it begins in");
  if (direction(*source, *target) != kind)
    return breaks(cudaErrorInvalidValue, "a copy's direction is not that of its addresses");
  const bool is_pageable = *source == Where::kPageable || *target == Where::kPageable;
  if (is_pageable && machine().is_captured(stream))
    return breaks(cudaErrorStreamCaptureUnsupported, "a pageable copy is captured");
  Work work{.kind = WorkKind::kCopy, .name = "memcpy", .run = {}, .bytes = bytes};
  if (kind == cudaMemcpyDeviceToDevice &&
      machine().memory().gpu_of(from) != machine().memory().gpu_of(to)) {
    if (way == Way::kReached && stand_in::options().no_peers)
      return breaks(cudaErrorInvalidValue, "a copy between GPUs that cannot reach each other");
    work.kind = WorkKind::kPeerCopy;
  }
  work.from = kind_of(*source);
  work.to = kind_of(*target);
  constexpr std::size_t kLarge = std::size_t{16} << 20;
  if (stand_in::options().brief && bytes > kLarge) {
    work.run = nullptr;
  } else if (*source == Where::kPageable) {
    const auto* first = static_cast<const char*>(from);
    work.run = [to, staged = std::vector<char>(first, first + bytes)] {
      std::memcpy(to, staged.data(), staged.size());
    };
  } else {
    work.run = [to, from, bytes] { std::memcpy(to, from, bytes); };
  }
  stand_in::OpRef op;
  const cudaError_t status =
      machine().put(stream, std::move(work), {.needs_own_gpu = false, .op = &op});
  if (status == cudaSuccess && *target == Where::kPageable) machine().queue().wait(op);
  return status;
}

// Waits for all GPUs, as these calls may.
cudaError_t give_back(void* memory, Where where) {
  if (!memory) return cudaSuccess;
  machine().queue().wait_for_all();
  return machine().memory().give_back(memory, where)
             ? cudaSuccess
             : breaks(cudaErrorInvalidValue, "memory is given back that was not handed out");
}

}  // namespace

#define CALL(name, ...) return stand_in::call(name, [&]() -> cudaError_t { __VA_ARGS__ })

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  CALL("cudaMalloc", const cudaError_t status = machine().unsafe_while_captured("cudaMalloc");
       if (status != cudaSuccess) return status;
       *memory = machine().memory().take_device(bytes, stand_in::thread_state().gpu);
       return *memory ? cudaSuccess : cudaErrorMemoryAllocation;);
}

// Gone even where the device is lost.
cudaError_t cudaFree(void* memory) {
  stand_in::call("cudaFree", [] { return cudaSuccess; });
  return give_back(memory, Where::kDevice);
}

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  CALL("cudaHostAlloc", const cudaError_t status = machine().unsafe_while_captured("cudaHostAlloc");
       if (status != cudaSuccess) return status; *memory = machine().memory().take_pinned(bytes);
       return *memory ? cudaSuccess : cudaErrorMemoryAllocation;);
}

cudaError_t cudaFreeHost(void* memory) {
  stand_in::call("cudaFreeHost", [] { return cudaSuccess; });
  return give_back(memory, Where::kPinned);
}

cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream) {
  CALL("cudaMallocAsync", if (stand_in::options().no_pools) return cudaErrorNotSupported;
       if (bytes == 0) return breaks(cudaErrorInvalidValue, "a pool is asked for no memory");
       if (machine().is_captured(stream)) return breaks(cudaErrorNotSupported,
                                                        "memory is taken inside of a capture");
       const int gpu = machine().gpu_of(stream); if (gpu < 0) return cudaErrorInvalidResourceHandle;
       *memory = machine().memory().take_pooled(bytes, gpu);
       return *memory ? cudaSuccess : cudaErrorMemoryAllocation;);
}

// On the stream, in its turn; a lost device has it back at once, however often it is told.
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  if (!machine().queue().failure().empty()) {
    machine().memory().give_back(memory, Where::kDevice);
    return stand_in::call("cudaFreeAsync", [] { return cudaErrorLaunchFailure; });
  }
  if (machine().memory().where(memory, 0) != Where::kDevice)
    return breaks(cudaErrorInvalidValue, "memory is given back that was not handed out");
  const cudaError_t status = stand_in::call("cudaFreeAsync", [&]() -> cudaError_t {
    if (machine().is_captured(stream))
      return breaks(cudaErrorNotSupported, "memory is given back inside of a capture");
    Work work;
    work.run = [memory] { machine().memory().give_back(memory, Where::kDevice); };
    return machine().put(stream, std::move(work), {.needs_own_gpu = false});
  });
  if (status == cudaErrorLaunchFailure) machine().memory().give_back(memory, Where::kDevice);
  return status;
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  CALL(
      "cudaMemsetAsync",
      if (machine().memory().where(memory, bytes) != Where::kDevice) return breaks(
          cudaErrorInvalidValue, "bytes are filled that are not one piece of a device's");
      Work work{.kind = WorkKind::kFill, .name = "memset", .run = {}, .bytes = bytes};
      work.run = [memory, value, bytes] { std::memset(memory, value, bytes); };
      return machine().put(stream, std::move(work), {.needs_own_gpu = false}););
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  CALL("cudaMemcpyAsync", return copy(to, from, bytes, kind, stream););
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_gpu, const void* from, int from_gpu,
                                std::size_t bytes, cudaStream_t stream) {
  CALL("cudaMemcpyPeerAsync",
       if (machine().memory().gpu_of(from) != from_gpu ||
           machine().memory().gpu_of(to) !=
               to_gpu) return breaks(cudaErrorInvalidValue,
                                     "a copy between GPUs is not of their memory");
       return copy(to, from, bytes, cudaMemcpyDeviceToDevice, stream, Way::kThroughHost););
}

// ---- pools

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int gpu) {
  if (gpu < 0 || gpu >= stand_in::options().gpus) return cudaErrorInvalidDevice;
  if (stand_in::options().no_pools) return cudaErrorNotSupported;
  *pool = &pool_of(gpu);
  return cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, std::size_t) {
  CALL("cudaMemPoolTrimTo", machine().memory().trim_pool(pool->gpu); return cudaSuccess;);
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* access,
                                 std::size_t count) {
  if (stand_in::options().no_peers)
    return breaks(cudaErrorInvalidDevice, "a pool is opened for a GPU that cannot reach it");
  for (std::size_t i = 0; i < count; ++i)
    if (access[i].location.type != cudaMemLocationTypeDevice || access[i].location.id == pool->gpu)
      return breaks(cudaErrorInvalidValue, "a pool is opened for its own GPU, or for no GPU");
  return cudaSuccess;
}

}  // extern "C"
