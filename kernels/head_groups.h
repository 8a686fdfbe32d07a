// Heads of keys and values that heads of queries share (Ainslie et al., arXiv:2305.13245): repeated
// for attention, their gradients summed behind it. CPU reference: src/host/head_groups.h.
//
// Sums are FP32, in the order of heads, rounded once to T: float, Half, Bfloat16.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

struct HeadGroups {
  std::size_t tokens = 0;
  std::size_t key_heads = 0;
  std::size_t each = 1;  // heads of queries that share one of keys
  std::size_t width = 0;

  std::size_t shared() const { return tokens * key_heads * width; }  // values
  std::size_t all() const { return shared() * each; }
};

// x [tokens, key_heads, width] becomes y [tokens, key_heads, each, width].
template <typename T>
void repeat_heads(Stream stream, const HeadGroups& shape, const T* x, T* y);

// x [tokens, key_heads, each, width] becomes y [tokens, key_heads, width].
template <typename T>
void sum_heads(Stream stream, const HeadGroups& shape, const T* x, T* y);

}  // namespace trainscope::kernels
