// Memory of a GPU as the driver gives it: from its pool, which keeps what is given back, and beside
// it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace trainscope::cuda {

// Whether there are pools: a share of a GPU (a vGPU) may have none.
bool has_pools(int number);

// What is given back to the pool stays with the process, so that the next allocation needs no call
// of the driver.
void keep_freed_memory(int number);

// Hands the driver what the pool keeps and nobody has.
void empty_pool(int number);

// Of the thread's GPU, for libraries to work in. What the pool keeps is no room for it, so the pool
// is emptied where there is no other.
cudaError_t allocate_beside_pool(void** memory, std::size_t bytes);

// Pinned memory of the host. Throws MissingError where it gives none: that the GPU is full would be
// another sentence.
void* allocate_pinned(std::size_t bytes);

}  // namespace trainscope::cuda
