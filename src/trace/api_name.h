// Whether a host's span is a call of the runtime or the driver, by its name.
#pragma once

#include <string_view>

namespace trainscope::trace {

// "cudaLaunchKernel", "cuLaunchKernelEx", "hipMemcpyAsync"; not "cumsum", "custom_op".
bool is_api_name(std::string_view name);

}  // namespace trainscope::trace
