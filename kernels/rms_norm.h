// Division by the root of the mean square of each row: torch.nn.functional.rms_norm. CPU reference:
// src/host/rms_norm.h.
//
// Zhang and Sennrich, arXiv:1910.07467. For each row of x [rows, columns]:
//   x̂ = x · rstd, rstd = 1/√(mean(x²) + eps);  y = x̂ γ;
//   dx = rstd (g - x̂ mean(g x̂)), g = dy γ;  dγ = Σ_r dy x̂.
// γ, its gradient and rstd are FP32, all is computed in FP32. Error: a few units in the last place
// of values of order 1. T: float, Half, Bfloat16. y may be x where no backward follows; dx may be
// dy.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// rstd, one a row, is kept for backward.
template <typename T>
void rms_norm_forward(Stream stream, const Matrix& shape, const T* x, const float* gamma, float eps,
                      T* y, float* rstd);

template <typename T>
void rms_norm_backward_input(Stream stream, const Matrix& shape, const T* x, const float* gamma,
                             const T* dy, const float* rstd, T* dx);

// Floats to work in; none where there are few rows, which are one kernel and not two.
std::size_t rms_norm_workspace(const Matrix& shape);

template <typename T>
void rms_norm_backward_weight(Stream stream, const Matrix& shape, const T* x, const T* dy,
                              const float* rstd, float* workspace, float* dgamma, Into into);

}  // namespace trainscope::kernels
