// A fused kernel of a program as one chain of steps, where all of its parts work value by value.
#pragma once

#include <optional>

#include "cuda/device_calls.h"
#include "kernels/chain.h"

namespace trainscope::cuda {

// Nothing where a part sums, draws or looks elsewhere, or where there are too many: its parts are
// launched one after another then.
std::optional<kernels::Chain> chain_of(const KernelCall& call);

}  // namespace trainscope::cuda
