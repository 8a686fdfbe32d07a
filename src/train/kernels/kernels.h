// Operations as PyTorch's eager mode launches them on a GPU: which kernel, how much arithmetic, how
// many bytes, how many blocks.
#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace trainscope::train {

// The operands of an operation, as its function states them.
struct Operands {
  std::vector<program::Index> reads;
  std::vector<program::Index> writes;
};

// Each operand is read or written once. `type` is what the arithmetic reads.
program::Operation make_operation(const program::Program& program,
                                  const program::Function& function, program::ElementType type,
                                  Operands operands);

// A kernel on `elements` numbers that computes nothing itself: one of several of an operator.
program::Operation pointwise(std::string kernel, std::string framework, program::OperationKind kind,
                             std::int64_t elements, double flops_each, double bytes);

}  // namespace trainscope::train
