// The source of the kernels that are compiled for one chain: a few lines of CUDA C++ that state its
// form (kernels/compiled_chain.h says what that is) and name the entries which start_chain and its
// like start.
#pragma once

#include <string>
#include <vector>

#include "cuda/device/chains.h"

namespace trainscope::cuda {

std::string text_of(const FusedKernel& chain);

// The names of a text's kernels, in their order.
std::vector<std::string> entries_of(const std::string& text);

// Short, and the same for chains of the same text alone.
std::string key_of(const FusedKernel& chain);

}  // namespace trainscope::cuda
