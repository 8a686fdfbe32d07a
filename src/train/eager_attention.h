// Attention as a model writes it out, launch by launch, and what autograd does with it:
//
//   att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
//   att = att.masked_fill(mask == 0, float("-inf"))
//   att = F.softmax(att, dim=-1)
//   y = (att @ v).transpose(1, 2).contiguous()
//
// Each line reads and writes the scores of all heads, and `masked_fill` twice: it copies them, and
// fills the copy in place (aten/src/ATen/native/TensorAdvancedIndexing.cpp). Its gradient is
// another masked_fill, that of the product by a number another product (derivatives.yaml).
// `matmul` copies what does not lie as a batched product takes it (LinearAlgebra.cpp). Under
// autocast softmax is an operator of FP32 (autocast_mode.h): BF16 is cast before it, FP16 read by
// its kernel (SoftMax.cpp, half_to_float), and what it gives is cast for the product behind it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/attention_launches.h"

namespace trainscope::train {

// What backward reads beside the probabilities that the product read; kNoIndex: nothing.
struct KeptByEager {
  program::Index mask = program::kNoIndex;  // true where it hides
  program::Index wide = program::kNoIndex;  // under autocast: the probabilities in FP32
};

struct EagerOptions {
  bool autocasts = false;
  bool fused = false;  // with what Inductor makes of everything but the products
};

// Makes a buffer of so many numbers.
using NewBuffer = std::function<program::Index(const std::string& name, std::int64_t elements,
                                               program::ElementType type)>;

// In order; all but the last compute nothing by themselves. `whole`: forward or backward as one
// operation, whose function, operands and work as one call the last one has. Forward fills in what
// it keeps, backward reads it. What is kept of queries, keys and values is as large as the
// projections, which stand for it.
std::vector<AttentionLaunch> eager_attention(const program::Program& program,
                                             const program::Operation& whole,
                                             const EagerOptions& options,
                                             const NewBuffer& new_buffer, KeptByEager& kept);

}  // namespace trainscope::train
