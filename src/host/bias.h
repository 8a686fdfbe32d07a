// The gradient of a bias, one value that was added to each column of a matrix (linear.h):
// db[c] = Σ_r dy[r, c].
// Error: the sum is accumulated in FP64.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

void bias_backward(const MatrixShape& shape, Values dy, Results db, Into into,
                   const Workers& workers = {});

}  // namespace trainscope::host
