// A fused kernel with layer norms among its parts, as one chain.
#pragma once

#include <optional>

#include "cuda/device_calls.h"
#include "kernels/norm_chain.h"

namespace trainscope::cuda {

// `first`: the first of its norms, whose rows all must share. Nothing where there are other sums,
// too many norms, or gradients of a norm's parameters.
std::optional<kernels::NormChain> norm_chain(const KernelCall& call,
                                             const program::LayerNorm& first);

}  // namespace trainscope::cuda
