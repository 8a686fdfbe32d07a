// Clipping gradients by their common norm: torch.nn.utils.clip_grad_norm_, norm_type = 2.
//
//   norm = √(Σ over all gradients of g²);  g = g · min(1, max_norm / (norm + 1e-6))
// A norm that is not finite makes every gradient NaN or 0, as error_if_nonfinite = False does.
// Error: the norm is summed in FP64 and rounded once; then one rounding for each factor and
// product.
#pragma once

#include "host/cast.h"
#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

// Of one gradient: the norm of several is the root of their sum.
double sum_of_squares(Values gradient, const Workers& workers = {});
// What gradients of that norm are multiplied by.
float clip_factor(float norm, double max_norm);

// The same where gradients have a narrow format, and with them their norms and all that is made of
// those: each result is rounded to it. The square of a gradient's norm; the factor.
double rounded_sum_of_squares(NumberFormat format, Values gradient, const Workers& workers = {});
float rounded_clip_factor(NumberFormat format, float norm, double max_norm);

}  // namespace trainscope::host
