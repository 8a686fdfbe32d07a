#include "host/sgd.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace trainscope::host {
namespace {

struct Factors {
  // The gradient with the decay in it.
  float with_decay(float gradient, float parameter) const {
    return decay == 0 ? gradient : gradient + decay * parameter;
  }

  float rate;
  float decay;
  float momentum;
  float fresh;  // of the gradient in the velocity
  bool nesterov;
};

void step_plain(const Factors f, Values gradient, Results parameter) {
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    parameter[i] -= f.rate * f.with_decay(gradient[i], parameter[i]);
  }
}

void step_with_momentum(const Factors f, Values gradient, Results parameter, Results velocity) {
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    const float g = f.with_decay(gradient[i], parameter[i]);
    const float v = f.momentum * velocity[i] + f.fresh * g;
    velocity[i] = v;
    parameter[i] -= f.rate * (f.nesterov ? g + f.momentum * v : v);
  }
}

}  // namespace

void sgd_step(const Sgd& options, bool first_step, Values gradient, Results parameter,
              Results velocity, const Workers& workers) {
  assert(gradient.size() == parameter.size());
  assert(options.momentum == 0 || velocity.size() == parameter.size());
  const Factors factors{static_cast<float>(options.lr), static_cast<float>(options.weight_decay),
                        static_cast<float>(options.momentum),
                        static_cast<float>(first_step ? 1 : 1 - options.dampening),
                        options.nesterov};
  workers.for_ranges(parameter.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    const Values g = gradient.subspan(begin, end - begin);
    const Results p = parameter.subspan(begin, end - begin);
    if (options.momentum == 0) return step_plain(factors, g, p);
    const Results v = velocity.subspan(begin, end - begin);
    if (first_step) std::fill(v.begin(), v.end(), 0.0F);
    step_with_momentum(factors, g, p, v);
  });
}

}  // namespace trainscope::host
