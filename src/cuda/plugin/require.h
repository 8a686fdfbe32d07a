// Calls of the CUDA runtime that must succeed: what failed, where, and what it means for the run.
#pragma once

#include <cuda_runtime.h>

#include <string>
#include <string_view>

namespace trainscope::cuda {

// Throws unless `status` is success: OutOfDeviceMemory, or DeviceLost for an error after which the
// context does nothing any more, each with the call, the file and the line.
void require(cudaError_t status, const char* call, const char* file, int line);

// "src/cuda/plugin/real_device.cpp:41", whatever folder it was built in.
std::string place_of(std::string_view file, int line);

// Of a query. "Not ready" is forgotten, so that nobody takes it for the error of a later call.
bool has_come(cudaError_t queried, const char* call, const char* file, int line);

// Whether every later call in this process fails, too.
bool is_sticky(cudaError_t status);

// Whether some call of any thread has failed so.
bool was_device_lost();

}  // namespace trainscope::cuda

#define TRAINSCOPE_CUDA_QUERY(call) ::trainscope::cuda::has_come((call), #call, __FILE__, __LINE__)
#define TRAINSCOPE_CUDA(call) ::trainscope::cuda::require((call), #call, __FILE__, __LINE__)
