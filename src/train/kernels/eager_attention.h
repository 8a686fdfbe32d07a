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
//
// Hugging Face's transformers (4.36, models/{gpt2,bert,opt}/modeling_*.py, attn_implementation =
// "eager") divides by a number where a learner multiplies, and hides in another way. GPT-2's
// torch.where writes the scores anew; BERT's adds a mask that is as long as a row; OPT's multiplies
// the queries instead, makes q, k and v contiguous whatever they are, adds a mask and takes
// torch.max of that and the type's least number, whose gradient is five kernels (derivatives.yaml,
// maximum). Llama's repeats keys and values that heads share (repeat_kv), multiplies the scores by
// a number, adds a mask, and asks for a softmax in FP32 whatever comes in. All drop probabilities
// where attention.dropout says so: the kernel writes what it keeps as a mask beside them
// (aten/src/ATen/native/cuda/Dropout.cu).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "train/kernels/attention_launches.h"

namespace trainscope::train {

// What backward reads beside the probabilities that the product read; kNoIndex: nothing.
struct KeptByEager {
  program::Index mask = program::kNoIndex;     // true where it hides
  program::Index softmax = program::kNoIndex;  // what it gave, where that is cast or dropped
  program::Index kept = program::kNoIndex;     // true where dropout drops nothing
  program::Index masked = program::kNoIndex;   // OPT's scores before torch.max
  // Of keys and values that heads share, repeated: what they are larger by than the shared ones.
  program::Index more_keys = program::kNoIndex;
  program::Index more_values = program::kNoIndex;
};

struct EagerOptions {
  bool autocasts = false;
  // With what Inductor makes of everything but the products; it draws without a kernel for that.
  bool fused = false;
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
