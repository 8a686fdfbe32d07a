// What a call of the CUDA runtime or driver is, or of AMD's or Moore Threads', by its name.
#pragma once

#include <string_view>

namespace trainscope::analysis {

// "cudaStreamSynchronize", "cuCtxSynchronize", "hipDeviceSynchronize"; no sentence of ours.
inline bool is_call_of_runtime(std::string_view name) {
  return name.find(' ') == std::string_view::npos &&
         (name.starts_with("cu") || name.starts_with("hip") || name.starts_with("musa"));
}

// cudaLaunchKernel, cuLaunchKernelEx, cudaGraphLaunch; hipLaunchKernel, hipExtModuleLaunchKernel.
inline bool is_launch(std::string_view name) {
  return is_call_of_runtime(name) && name.find("Launch") != std::string_view::npos;
}

}  // namespace trainscope::analysis
