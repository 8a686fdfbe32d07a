#include "host/adam.h"

#include <cassert>
#include <cmath>
#include <cstddef>

namespace trainscope::host {
namespace {

// a + weight (b - a), from the nearer end, as torch.lerp does.
inline float between(float a, float b, float weight) {
  return weight < 0.5F ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

// The factors of one step: the corrections are computed in FP64, then rounded.
struct Factors {
  Factors(const Adam& options, std::int64_t step)
      : rate(rounded(options.lr / (1 - std::pow(options.beta1, static_cast<double>(step))))),
        correction(rounded(std::sqrt(1 - std::pow(options.beta2, static_cast<double>(step))))),
        kept(rounded(options.decoupled ? 1 - options.lr * options.weight_decay : 1)),
        decay(rounded(options.decoupled ? 0 : options.weight_decay)),
        weight1(rounded(1 - options.beta1)),
        beta2(rounded(options.beta2)),
        weight2(rounded(1 - options.beta2)),
        eps(rounded(options.eps)) {}

  static float rounded(double value) { return static_cast<float>(value); }

  float rate;
  float correction;
  float kept;   // of the parameter, by AdamW's decay
  float decay;  // into the gradient, by Adam's
  float weight1;
  float beta2;
  float weight2;
  float eps;
};

void step_range(const Factors f, std::size_t count, const float* gradient, float* parameter,
                float* first, float* second) {
  for (std::size_t i = 0; i < count; ++i) {
    const float p = parameter[i] * f.kept;
    const float g = f.decay == 0 ? gradient[i] : gradient[i] + f.decay * p;
    const float m = between(first[i], g, f.weight1);
    const float v = f.beta2 * second[i] + f.weight2 * g * g;
    first[i] = m;
    second[i] = v;
    parameter[i] = p - f.rate * m / (std::sqrt(v) / f.correction + f.eps);
  }
}

}  // namespace

void adam_step(const Adam& options, std::int64_t step, Values gradient, Results parameter,
               const AdamMoments& moments, const Workers& workers) {
  assert(step >= 1 && gradient.size() == parameter.size());
  assert(moments.first.size() == parameter.size() && moments.second.size() == parameter.size());
  const Factors factors(options, step);
  workers.for_ranges(parameter.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    step_range(factors, end - begin, gradient.data() + begin, parameter.data() + begin,
               moments.first.data() + begin, moments.second.data() + begin);
  });
}

}  // namespace trainscope::host
