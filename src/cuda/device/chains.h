// A fused kernel of a program as one chain of steps, with what is summed on the way.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

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
// chain has (README.md says which), where there are too many, or only one. A batch norm is none: a
// channel's sums are those of many blocks.
std::optional<FusedKernel> fused_kernel(const KernelCall& call);

// Parts of a fused kernel that follow each other.
struct PartRun {
  std::span<const KernelCall> parts;
  std::optional<kernels::Chain> chain;  // of all of them; nothing: they are launched one by one
};

// What a fused kernel is carried out as where it is none in all: its batch norms, and what stands
// before, between and behind them. They refer to the call.
std::vector<PartRun> runs_of(const KernelCall& call);

// The chains that a call is carried out with, in their order.
std::vector<FusedKernel> chains_of(const KernelCall& call);

// `room`: as much as the largest of its parts needs.
void launch_fused(const FusedKernel& fused, kernels::Stream stream, float* room);

}  // namespace trainscope::cuda
