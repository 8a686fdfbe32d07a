// What a call of the runtime or the driver is, by the name of a host's span.
#pragma once

#include <string_view>

namespace trainscope::trace {

// "cudaLaunchKernel", "cuLaunchKernelEx", "hipMemcpyAsync"; not "cumsum", "custom_op".
bool is_api_name(std::string_view name);

// "cudaMalloc", "cudaFree", "cuMemAlloc", "cudaHostAlloc", "hipFree": a call that asks the driver
// for memory, or gives it back.
bool asks_for_memory(std::string_view name);

}  // namespace trainscope::trace
