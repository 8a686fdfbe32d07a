// The logarithm of softmax, row by row: torch.nn.functional.log_softmax over the last dimension.
//
// x, y [rows, columns]: y[r, c] = x[r, c] - max_r - log Σ_c exp(x[r, c] - max_r);
// dx[r, c] = dy[r, c] - exp(y[r, c]) Σ_c dy[r, c].
// Error: a unit or two in the last place of the larger of |y| and the row's spread (sums in FP64);
// backward a few units in the last place of the row's Σ dy. A row with a NaN or +∞ becomes NaN, as
// in PyTorch. y may be x, dx may be dy.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void log_softmax_forward(const MatrixShape& shape, Values x, Results y,
                         const Workers& workers = {});

// `y` is what forward gave.
void log_softmax_backward(const MatrixShape& shape, Values y, Values dy, Results dx,
                          const Workers& workers = {});

}  // namespace trainscope::host
