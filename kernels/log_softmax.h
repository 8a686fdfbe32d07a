// The logarithm of softmax, row by row: torch.nn.functional.log_softmax over the last dimension.
// CPU reference: src/host/log_softmax.h.
//
// x, y [rows, columns]: y[r, c] = x[r, c] - max_r - log Σ_c exp(x[r, c] - max_r);
// dx[r, c] = dy[r, c] - exp(y[r, c]) Σ_c dy[r, c].
// All FP32, as autocast runs it. Error: a few units in the last place of the larger of |y| and the
// row's spread; backward of the row's Σ |dy|. y may be x, dx may be dy.
#pragma once

#include "kernels/device.h"

namespace trainscope::kernels {

void log_softmax_forward(Stream stream, const Matrix& shape, const float* x, float* y);

// `y` is what forward gave.
void log_softmax_backward(Stream stream, const Matrix& shape, const float* y, const float* dy,
                          float* dx);

}  // namespace trainscope::kernels
