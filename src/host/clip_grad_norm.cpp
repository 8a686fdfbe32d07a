#include "host/clip_grad_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "host/sums.h"

namespace trainscope::host {

double sum_of_squares(Values values, const Workers& workers) {
  constexpr std::size_t kParts = 64;
  std::array<double, kParts> totals{};
  const std::size_t grain = std::max(kGrain, (values.size() + kParts - 1) / kParts);
  workers.for_ranges(values.size(), grain, [&](std::size_t begin, std::size_t end) {
    totals[begin / grain] = sum_of(end - begin, [g = values.data() + begin](std::size_t i) {
      return static_cast<double>(g[i]) * g[i];
    });
  });
  double squares = 0;
  for (const double total : totals) squares += total;
  return squares;
}

float clip_factor(float norm, double max_norm) {
  const float wanted = static_cast<float>(max_norm) / (norm + 1e-6F);
  return wanted > 1 ? 1.0F : wanted;  // a NaN stays one
}

double rounded_sum_of_squares(NumberFormat format, Values gradient, const Workers& workers) {
  const double squares = sum_of_squares(gradient, workers);
  const double norm = rounded(format, static_cast<float>(std::sqrt(squares)));
  return norm * norm;
}

// A number by a tensor is the tensor's reciprocal times the number (torch/_tensor.py, __rdiv__).
float rounded_clip_factor(NumberFormat format, float norm, double max_norm) {
  const float inverse = rounded(format, 1 / rounded(format, norm + 1e-6F));
  const float wanted = rounded(format, inverse * static_cast<float>(max_norm));
  return wanted > 1 ? 1.0F : wanted;
}

}  // namespace trainscope::host
