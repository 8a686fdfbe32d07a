// Attention as torch.nn.functional.scaled_dot_product_attention takes it.
#pragma once

#include "host/attention.h"

namespace trainscope::host {

// q, k, v, o and their gradients are [batch, heads, length, width].
inline AttentionShape contiguous_attention(std::size_t batch, std::size_t heads, std::size_t length,
                                           std::size_t width) {
  const HeadStrides strides{heads * length * width, length * width, width};
  return {batch, heads, length, width, strides, strides};
}

}  // namespace trainscope::host
