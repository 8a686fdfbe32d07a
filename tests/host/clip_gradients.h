// torch.nn.utils.clip_grad_norm_ of what programs have operations for, one by one: the sums of
// squares, the factor of their norm, the gradients by that.
#pragma once

#include <cmath>
#include <span>

#include "host/clip_grad_norm.h"
#include "host/elementwise.h"

namespace trainscope::host {

// Returns the norm before clipping.
inline float clip_gradients(std::span<const Results> gradients, double max_norm,
                            const Workers& workers = {}) {
  double squares = 0;
  for (const Results gradient : gradients) squares += sum_of_squares(gradient, workers);
  const auto norm = static_cast<float>(std::sqrt(squares));
  const float factor = clip_factor(norm, max_norm);
  for (const Results gradient : gradients) scale(gradient, factor, gradient, workers);
  return norm;
}

}  // namespace trainscope::host
