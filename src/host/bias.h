// Adding one value to each column of a matrix, and the gradient of that: torch.add with
// broadcasting.
//
// y[r, c] = x[r, c] + b[c]; db[c] = Σ_r dy[r, c]; dx = dy.
// Error: forward is exact to one rounding, in place; the sum is accumulated in FP64.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void bias_forward(const MatrixShape& shape, Values bias, Results values,
                  const Workers& workers = {});
void bias_backward(const MatrixShape& shape, Values dy, Results db, Into into,
                   const Workers& workers = {});

}  // namespace trainscope::host
