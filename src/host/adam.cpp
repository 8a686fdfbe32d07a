#include "host/adam.h"

#include <cassert>
#include <cmath>
#include <cstddef>

namespace trainscope::host {
namespace {

// a + weight (b - a), from the nearer end, as torch.lerp does.
float between(float a, float b, float weight) {
  return weight < 0.5F ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

}  // namespace

void adam_step(const Adam& options, std::int64_t step, Values gradient, Results parameter,
               const AdamMoments& moments) {
  assert(step >= 1 && gradient.size() == parameter.size());
  assert(moments.first.size() == parameter.size() && moments.second.size() == parameter.size());
  const auto count = static_cast<double>(step);
  const auto rate = static_cast<float>(options.lr / (1 - std::pow(options.beta1, count)));
  const auto correction = static_cast<float>(std::sqrt(1 - std::pow(options.beta2, count)));
  const auto kept = static_cast<float>(1 - options.lr * options.weight_decay);
  const auto decay = static_cast<float>(options.weight_decay);
  const auto weight1 = static_cast<float>(1 - options.beta1);
  const auto beta2 = static_cast<float>(options.beta2);
  const auto weight2 = static_cast<float>(1 - options.beta2);
  const auto eps = static_cast<float>(options.eps);
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    float p = options.decoupled ? parameter[i] * kept : parameter[i];
    const float g = options.decoupled ? gradient[i] : gradient[i] + decay * p;
    const float m = between(moments.first[i], g, weight1);
    const float v = beta2 * moments.second[i] + weight2 * g * g;
    p -= rate * m / (std::sqrt(v) / correction + eps);
    moments.first[i] = m;
    moments.second[i] = v;
    parameter[i] = p;
  }
}

}  // namespace trainscope::host
