// Layer normalisation over the last dimension: torch.nn.functional.layer_norm. CPU reference:
// src/host/layer_norm.h.
//
// Ba, Kiros, Hinton, arXiv:1607.06450. For each row of x [rows, columns], with the biased variance:
//   x̂ = (x - mean) · rstd, rstd = 1/√(variance + eps);  y = x̂ γ + β;
//   dx = rstd (g - mean(g) - x̂ mean(g x̂)), g = dy γ;  dγ = Σ_r dy x̂;  dβ = Σ_r dy.
// γ, β, their gradients and the moments are FP32, all is computed in FP32 (the variance from
// distances to the mean, so nothing cancels). Error: a few units in the last place of values of
// order 1. T: float, Half, Bfloat16. y may be x where no backward follows; dx may be dy.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

// mean and rstd, one a row, are kept for backward.
template <typename T>
void layer_norm_forward(Stream stream, const Matrix& shape, const T* x, const float* gamma,
                        const float* beta, float eps, T* y, float* mean, float* rstd);

template <typename T>
void layer_norm_backward_input(Stream stream, const Matrix& shape, const T* x, const float* gamma,
                               const T* dy, const float* mean, const float* rstd, T* dx);

// Floats to work in; none where there are few rows, which are one kernel and not two.
std::size_t layer_norm_workspace(const Matrix& shape);

template <typename T>
void layer_norm_backward_parameters(Stream stream, const Matrix& shape, const T* x, const T* dy,
                                    const float* mean, const float* rstd, float* workspace,
                                    float* dgamma, float* dbeta, Into into);

}  // namespace trainscope::kernels
