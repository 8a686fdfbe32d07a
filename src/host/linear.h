// The linear layer: torch.nn.functional.linear.
//
// x [rows, inputs], one row `row_stride` numbers behind the other, w [outputs, inputs], b
// [outputs], y [rows, outputs].
//   y = x wᵀ + b;  dx = dy w;  dw = dyᵀ x;  db[o] = Σ_r dy[r, o].
// Error: a product of `inner` terms in FP32 is within about sqrt(inner) · 2^-24 of Σ|a||b| of the
// exact one, in PyTorch as here; the orders of summation differ, so the last places do.
#pragma once

#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

struct LinearShape {
  std::size_t rows = 0;
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t row_stride = 0;  // of x; 0: `inputs`, so that rows lie one behind the other

  std::size_t stride() const { return row_stride == 0 ? inputs : row_stride; }
  // Numbers from x's first to its last.
  std::size_t extent() const { return rows == 0 ? 0 : (rows - 1) * stride() + inputs; }
};

// `bias` may be empty: none.
void linear_forward(const LinearShape& shape, Values x, Values w, Values bias, Results y,
                    const Workers& workers = {});

// What is empty is not computed: frameworks run each as a kernel of its own.
struct LinearGradients {
  Results dx;  // always written, never added to
  Results dw;
  Results db;
};

// `x` may be empty where dw is, `w` where dx is.
void linear_backward(const LinearShape& shape, Values x, Values w, Values dy,
                     const LinearGradients& gradients, Into into, const Workers& workers = {});

}  // namespace trainscope::host
