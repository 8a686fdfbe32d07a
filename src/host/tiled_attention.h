// Causal attention, tile by tile with an online softmax: what FlashAttention computes.
//
// Milakov and Gimelshein, arXiv:1805.02867 (online softmax); Dao, "FlashAttention-2",
// arXiv:2307.08691 (algorithms 1 and 2). The results are attention.h's, but the matrix of
// probabilities never exists: forward keeps one number a row, lse = log Σ exp(s), and backward
// computes each tile of p = exp(s - lse) again. So memory grows with length, not with its square.
//   m' = max(m, rowmax(s))
//   l' = l e^(m - m') + rowsum(e^(s - m'))
//   o' = o e^(m - m') + e^(s - m') v
// Error: a few units in the last place beside the plain way: one more rounding for each tile.
#pragma once

#include <cstddef>

#include "host/attention.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct AttentionTiles {
  std::size_t rows = 64;     // of queries
  std::size_t columns = 64;  // of keys
};

// Values that forward and backward need to work in for one head, at least; each further as many
// let one more head be computed at once.
std::size_t tiled_attention_workspace(const AttentionShape& shape, const AttentionTiles& tiles);

// `lse` [batch, heads, length] is kept for backward.
void tiled_attention_forward(const AttentionShape& shape, const AttentionTiles& tiles,
                             const AttentionInputs& inputs, Results o, Results lse,
                             Results workspace, const Workers& workers = {});

void tiled_attention_backward(const AttentionShape& shape, const AttentionTiles& tiles,
                              const AttentionInputs& inputs, Values o, Values lse, Values d_output,
                              const AttentionGradients& gradients, Results workspace,
                              const Workers& workers = {});

}  // namespace trainscope::host
