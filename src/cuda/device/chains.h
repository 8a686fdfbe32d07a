// A fused kernel of a program as one chain of steps, with what is summed on the way.
#pragma once

#include <optional>
#include <variant>

#include "cuda/device_calls.h"
#include "kernels/column_chain.h"
#include "kernels/norm_chain.h"

namespace trainscope::cuda {

struct SummedChain {
  kernels::Matrix shape;
  kernels::ColumnChain chain;
};

using FusedKernel = std::variant<kernels::Chain, kernels::NormChain, SummedChain>;

// Nothing where its parts are launched one after another: where one is no step and no sum that a
// chain has (README.md says which), where there are too many, or only one.
std::optional<FusedKernel> fused_kernel(const KernelCall& call);

// `room`: as much as the largest of its parts needs.
void launch_fused(const FusedKernel& fused, kernels::Stream stream, float* room);

}  // namespace trainscope::cuda
