// Attention without the flash kernel, launch by launch, as SDPBackend.MATH and what autograd does
// with it (aten/src/ATen/native/transformers/attention.cpp, _scaled_dot_product_attention_math):
// queries and keys are scaled, all three are brought into an order that a batched product takes,
// and the scores of all heads are written by one product, masked, made probabilities and read by
// another. Keys and values that heads share are repeated before all that
// (pre_process_group_query_attention_input).
#pragma once

#include <vector>

#include "train/kernels/attention_launches.h"
#include "train/kernels/eager_attention.h"

namespace trainscope::train {

// In order; all but the last compute nothing by themselves. `whole`: forward or backward as one
// operation, whose function, operands and work as one call the last one has. `scores`: a buffer as
// large as the probabilities, for what they are made of or, backward, for its gradient.
// `fused`: with what Inductor makes of everything but the products. Forward fills in what it keeps
// of keys and values that heads share, backward reads it.
std::vector<AttentionLaunch> math_attention(const program::Program& program,
                                            const program::Operation& whole, program::Index scores,
                                            bool fused, const NewBuffer& new_buffer,
                                            KeptByEager& kept);

}  // namespace trainscope::train
