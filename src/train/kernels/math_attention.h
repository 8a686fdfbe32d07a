// Attention without the flash kernel, launch by launch, as SDPBackend.MATH and what autograd does
// with it (aten/src/ATen/native/transformers/attention.cpp, _scaled_dot_product_attention_math):
// queries and keys are scaled, all three are brought into an order that a batched product takes,
// and the scores of all heads are written by one product, masked, made probabilities and read by
// another.
#pragma once

#include <vector>

#include "train/kernels/attention_launches.h"

namespace trainscope::train {

// In order; all but the last compute nothing by themselves. `whole`: forward or backward as one
// operation, whose function, operands and work as one call the last one has. `scores`: a buffer as
// large as the probabilities, for what they are made of or, backward, for its gradient.
// `fused`: with what Inductor makes of everything but the products.
std::vector<AttentionLaunch> math_attention(const program::Program& program,
                                            const program::Operation& whole, program::Index scores,
                                            bool fused);

}  // namespace trainscope::train
