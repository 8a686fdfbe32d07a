// Adding a bias to each column and taking the activation of that, in one pass. CPU reference:
// src/host/relu.h, gelu.h, tanh.h, silu.h, and bias.h for the last.
//
//   y[r, c] = act(x[r, c] + b[c]);   dx = dy · act'(x + b);   db[c] = Σ_r dx[r, c]
// relu: max(z, 0), a NaN passes. GELU (Hendrycks and Gimpel, arXiv:1606.08415), erf and tanh:
//   z/2 (1 + erf(z/√2));   z/2 (1 + tanh u), u = √(2/π) (z + 0.044715 z³)
// SiLU (Elfwing, Uchibe, Doya, arXiv:1702.03118): z / (1 + exp(-z)).
// tanh: backward takes y for x + b, and dx = dy (1 - y²).
// Of the others x, before the bias, is kept for backward. Computed in FP32, rounded once to T:
// float, Half, Bfloat16. Error: a few units in the last place of z (of dy in backward), and the
// rounding. y may be x where no backward follows; dx may be dy. `bias` may be null.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

enum class Activation { kNone, kRelu, kGeluErf, kGeluTanh, kTanh, kSilu };

template <typename T>
void bias_activation_forward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                             const T* bias, T* y);

// db is column_sums (reductions.h) of dx.
template <typename T>
void bias_activation_backward(Stream stream, Activation activation, const Matrix& shape, const T* x,
                              const T* bias, const T* dy, T* dx);

}  // namespace trainscope::kernels
