// The common norm of gradients, and clipping by it: torch.nn.utils.clip_grad_norm_, norm_type = 2.
// CPU reference: src/host/clip_grad_norm.h.
//
//   norm = √(Σ over all gradients of g²);  g = g · min(1, max_norm / (norm + 1e-6))
// The norm stays in device memory. All FP32. Error: a few units in the last place of the norm, and
// one rounding of each product.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// Floats that it needs to work in.
std::size_t squares_workspace(std::size_t count);

// *total = Σ g², added to what it holds: fill it with 0 before the first gradient.
void add_squares(Stream stream, const float* gradient, std::size_t count, float* workspace,
                 float* total);

// *norm = √*norm.
void take_root(Stream stream, float* norm);

void clip_gradient(Stream stream, const float* norm, float max_norm, float* gradient,
                   std::size_t count);

}  // namespace trainscope::kernels
