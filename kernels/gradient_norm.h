// The common norm of gradients, and clipping by it: torch.nn.utils.clip_grad_norm_, norm_type = 2.
// CPU reference: src/host/clip_grad_norm.h.
//
//   norm = √(Σ over all gradients of g²);  g = g · min(1, max_norm / (norm + 1e-6))
// The norm stays in device memory. All is computed in FP32. Of narrow gradients each one's norm,
// and what the factor is made of step by step, are rounded to their type, as PyTorch's operators
// leave them. Error: a few units in the last place of the norm, and one rounding of each product.
#pragma once

#include "kernels/tensors.h"

namespace trainscope::kernels {

// Floats to work in for a gradient of `count` values; all gradients' are added up.
std::size_t squares_workspace(std::size_t count);

// Of float, Half or Bfloat16. A launch for as many gradients as a table holds (tensors.cuh), two of
// narrow ones, and one to finish.
template <typename T>
void gradient_norm(Stream stream, std::span<const Tensor<const T>> gradients, float* workspace,
                   float* norm);

// norms[i]: of gradients[i], as its type holds it. Two launches for each table.
template <typename T>
void gradient_norms(Stream stream, std::span<const Tensor<const T>> gradients, float* workspace,
                    float* norms);

// A launch for each table.
template <typename T>
void clip_gradients(Stream stream, const float* norm, float max_norm,
                    std::span<const Tensor<T>> gradients);

}  // namespace trainscope::kernels
