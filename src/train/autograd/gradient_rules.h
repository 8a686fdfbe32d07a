// Which kernels compute the gradients of a layer's operands, and what they read: the backward
// formulas of PyTorch (tools/autograd/derivatives.yaml), as one eager kernel each.
#pragma once

#include <cstdint>
#include <vector>

#include "program/function.h"

namespace trainscope::train {

// An operand of a gradient's kernel, by its place in the layer.
struct Source {
  enum class Kind : std::uint8_t { kGradient, kInput, kOutput, kSide };
  Kind kind = Kind::kGradient;  // of the output
  std::size_t place = 0;        // among the inputs (parameters follow values), or side results
};

struct GradientRule {
  program::Function function;
  std::vector<Source> reads;
  std::vector<std::size_t> wanted;  // the inputs whose gradients it writes, in this order
};

std::vector<GradientRule> gradient_rules(const program::Function& function);

// The inputs whose gradient is the output's itself, without a kernel: those of a sum.
std::vector<std::size_t> passed_through(const program::Function& function);

}  // namespace trainscope::train
