// Causal attention, plain: torch.nn.functional.scaled_dot_product_attention(is_causal = True), the
// "math" way, which keeps the whole matrix of probabilities.
//
// Vaswani et al., arXiv:1706.03762. For each batch and head, q, k, v [length, width]:
//   s = q kᵀ / √width, -∞ above the diagonal;  p = softmax(s) row by row;  o = p v
//   dv = pᵀ do;  dp = do vᵀ;  ds = p (dp - rowsum(p dp));  dq = ds k / √width;  dk = dsᵀ q / √width
// Error: that of products of `width` and `length` terms (linear.h); the softmax sums in FP64.
#pragma once

#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// Values from one batch, head and token to the next: attention reads q, k and v where the
// projection before it wrote them, [batch, length, 3, heads, width] or any other order with `width`
// innermost.
struct HeadStrides {
  std::size_t batch = 0;
  std::size_t head = 0;
  std::size_t token = 0;
};

struct AttentionShape {
  std::size_t batch = 0;
  std::size_t heads = 0;
  std::size_t length = 0;
  std::size_t width = 0;
  HeadStrides inputs;   // of q, k, v and their gradients
  HeadStrides outputs;  // of o and its gradient

  std::size_t probabilities() const { return batch * heads * length * length; }
};

struct AttentionInputs {
  Values q;
  Values k;
  Values v;
};

struct AttentionGradients {  // written
  Results dq;
  Results dk;
  Results dv;
};

// `probabilities` [batch, heads, length, length] is kept for backward.
void attention_forward(const AttentionShape& shape, const AttentionInputs& inputs, Results o,
                       Results probabilities, const Workers& workers = {});

// Values to work in: length² for each head that is computed at once. Backward needs those of one
// head at least; this is as many as workers can use.
std::size_t attention_workspace(const AttentionShape& shape);

void attention_backward(const AttentionShape& shape, const AttentionInputs& inputs,
                        Values probabilities, Values d_output, const AttentionGradients& gradients,
                        Results workspace, const Workers& workers = {});

}  // namespace trainscope::host
