// A fused kernel with layer norms or batch norms among its parts, as one chain.
#pragma once

#include <optional>

#include "cuda/device_calls.h"
#include "kernels/norm_chain.h"

namespace trainscope::cuda {

// `first`: the first of its norms, whose rows, or image, all must share. Nothing where there are
// other sums, too many norms, or gradients of a layer norm's parameters.
std::optional<kernels::NormChain> norm_chain(const KernelCall& call, const KernelCall& first);

}  // namespace trainscope::cuda
