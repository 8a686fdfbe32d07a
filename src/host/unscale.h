// Taking the loss scale out of gradients, looking for infinities and NaNs on the way:
// torch._amp_foreach_non_finite_check_and_unscale_, with GradScaler.unscale_'s inverse.
//
//   found_inf if any g is not finite (before the product);  g = g · inverse
// Error: none for scales that are powers of two, but for results below 2^-126; else one rounding.
#pragma once

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// 1 / scale, computed in FP64 and rounded to FP32 (torch/amp/grad_scaler.py).
float inverse_scale(float scale);

// In place. Returns whether a value was not finite; then the others are unscaled all the same.
bool unscale(Results gradient, float inverse, const Workers& workers = {});

}  // namespace trainscope::host
