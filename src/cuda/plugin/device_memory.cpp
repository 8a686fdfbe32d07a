#include "cuda/plugin/device_memory.h"

#include <cstdint>
#include <limits>

#include "base/error.h"
#include "base/units.h"
#include "cuda/plugin/require.h"

namespace trainscope::cuda {

bool has_pools(int number) {
  int has = 0;
  TRAINSCOPE_CUDA(cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, number));
  return has != 0;
}

void keep_freed_memory(int number) {
  cudaMemPool_t pool = nullptr;
  TRAINSCOPE_CUDA(cudaDeviceGetDefaultMemPool(&pool, number));
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  TRAINSCOPE_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
  // Nor is a stream to wait for another's free, which no program says.
  int none = 0;
  TRAINSCOPE_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &none));
}

void empty_pool(int number) {
  cudaMemPool_t pool = nullptr;
  TRAINSCOPE_CUDA(cudaDeviceGetDefaultMemPool(&pool, number));
  TRAINSCOPE_CUDA(cudaMemPoolTrimTo(pool, 0));
}

cudaError_t allocate_beside_pool(void** memory, std::size_t bytes) {
  const cudaError_t status = cudaMalloc(memory, bytes);
  if (status != cudaErrorMemoryAllocation) return status;
  cudaGetLastError();  // it is not the next call's
  int number = 0;
  TRAINSCOPE_CUDA(cudaGetDevice(&number));
  if (!has_pools(number)) return status;
  empty_pool(number);
  return cudaMalloc(memory, bytes);
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is not the next call's
    throw MissingError("the host has no " + format_bytes(static_cast<double>(bytes)) +
                       " left that can be pinned (" + cudaGetErrorName(status) +
                       ", cudaHostAlloc): its memory is full, or what may be locked of it (ulimit "
                       "-l), or a container's share; take a smaller batch or copy, or pageable "
                       "memory");
  }
  require(status, "cudaHostAlloc", __FILE__, __LINE__);
  return memory;
}

}  // namespace trainscope::cuda
