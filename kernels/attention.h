// Causal attention: torch.nn.functional.scaled_dot_product_attention(is_causal = True), in two
// ways. CPU reference: src/host/attention.h, tiled_attention.h.
//
// For each batch and head, q, k, v [length, width]:
//   s = q kᵀ / √width, -∞ above the diagonal;  p = softmax(s) row by row;  o = p v
//   dv = pᵀ do;  dp = do vᵀ;  ds = p (dp - rowsum(p dp));  dq = ds k / √width;  dk = dsᵀ q / √width
// All in FP32, rounded once to T: float, Half, Bfloat16. Error: that of products of `width` and
// `length` terms.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// Values from one batch, head and token to the next; `width` is innermost.
struct HeadStrides {
  std::size_t batch = 0;
  std::size_t head = 0;
  std::size_t token = 0;
};

struct Attention {
  int batch = 0;
  int heads = 0;
  int length = 0;
  int width = 0;
  HeadStrides inputs;   // of q, k, v and their gradients
  HeadStrides outputs;  // of o and its gradient

  __host__ __device__ std::size_t rows() const {
    return static_cast<std::size_t>(batch) * heads * length;
  }
  std::size_t probabilities() const { return rows() * length; }
};

template <typename T>
struct AttentionInputs {
  const T* q;
  const T* k;
  const T* v;
};

template <typename T>
struct AttentionGradients {  // written
  T* dq;
  T* dk;
  T* dv;
};

// The plain way keeps the whole matrix of probabilities, [batch, heads, length, length], and works
// in another of that size in backward.
template <typename T>
void attention_forward(Stream stream, const Attention& shape, const AttentionInputs<T>& inputs,
                       float* probabilities, T* o);

template <typename T>
void attention_backward(Stream stream, const Attention& shape, const AttentionInputs<T>& inputs,
                        const float* probabilities, const T* d_output, float* workspace,
                        const AttentionGradients<T>& gradients);

// Tile by tile in shared memory with an online softmax (Milakov and Gimelshein, arXiv:1805.02867;
// Dao, arXiv:2307.08691): forward keeps `lse` [batch, heads, length], backward computes each tile
// of probabilities again and works in rows() floats. No atomics: dq has a kernel of its own. Heads
// are at most kWidestHead wide.
inline constexpr int kWidestHead = 128;

template <typename T>
void tiled_attention_forward(Stream stream, const Attention& shape,
                             const AttentionInputs<T>& inputs, T* o, float* lse);

template <typename T>
void tiled_attention_backward(Stream stream, const Attention& shape,
                              const AttentionInputs<T>& inputs, const T* o, const float* lse,
                              const T* d_output, float* workspace,
                              const AttentionGradients<T>& gradients);

}  // namespace trainscope::kernels
