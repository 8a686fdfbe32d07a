// PyTorch's foreach kernels: one operator over a list of tensors, in as few launches as their
// argument limit allows (aten/src/ATen/native/cuda/MultiTensorApply.cuh).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"

namespace trainscope::train {

// One operator that reads or writes `depth` lists of tensors like these.
struct Foreach {
  std::string kernel;     // "foreach_add"
  std::string framework;  // "aten::_foreach_add_"
  int depth = 1;
  double flops_each = 1;
  int touched = 2;  // how often an element is read or written
};

// Its launches over tensors of that type, in order: none of them computes anything yet.
std::vector<program::Operation> foreach_launches(const Foreach& op, program::ElementType type,
                                                 const std::vector<std::int64_t>& sizes);

// The same operator on one tensor alone: "add", "aten::add_".
program::Operation launch_of_one(const Foreach& op, program::ElementType type, std::int64_t size);

}  // namespace trainscope::train
