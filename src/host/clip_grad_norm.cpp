#include "host/clip_grad_norm.h"

#include <cmath>

namespace trainscope::host {

float clip_grad_norm(std::span<const Results> gradients, double max_norm) {
  double squares = 0;
  for (const Results gradient : gradients) {
    for (const float g : gradient) squares += static_cast<double>(g) * g;
  }
  const auto norm = static_cast<float>(std::sqrt(squares));
  const float wanted = static_cast<float>(max_norm) / (norm + 1e-6F);
  const float factor = wanted > 1 ? 1.0F : wanted;  // a NaN stays one
  for (const Results gradient : gradients) {
    for (float& g : gradient) g *= factor;
  }
  return norm;
}

}  // namespace trainscope::host
