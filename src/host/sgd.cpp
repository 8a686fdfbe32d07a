#include "host/sgd.h"

#include <cassert>
#include <cstddef>

namespace trainscope::host {

void sgd_step(const Sgd& options, bool first_step, Values gradient, Results parameter,
              Results velocity) {
  assert(gradient.size() == parameter.size());
  assert(options.momentum == 0 || velocity.size() == parameter.size());
  const auto decay = static_cast<float>(options.weight_decay);
  const auto momentum = static_cast<float>(options.momentum);
  const auto fresh = static_cast<float>(1 - options.dampening);
  const auto rate = static_cast<float>(options.lr);
  for (std::size_t i = 0; i < parameter.size(); ++i) {
    float g = gradient[i];
    if (decay != 0) g += decay * parameter[i];
    if (momentum != 0) {
      velocity[i] = first_step ? g : momentum * velocity[i] + fresh * g;
      g = options.nesterov ? g + momentum * velocity[i] : velocity[i];
    }
    parameter[i] -= rate * g;
  }
}

}  // namespace trainscope::host
