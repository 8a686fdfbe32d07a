// The headers of kernels/ that a chain's kernels are compiled from, as they were when this was
// built: NVRTC reads no files. Made by cmake/embed_headers.cmake.
#pragma once

#include <span>

namespace trainscope::cuda {

struct KernelHeader {
  const char* name;  // as it is included: "kernels/chain.h"
  const char* text;
};

std::span<const KernelHeader> kernel_headers();

}  // namespace trainscope::cuda
