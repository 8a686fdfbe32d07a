#include "host/loss_scale.h"

#include <cmath>

namespace trainscope::host {

void update(LossScale& state, const LossScaleRule& rule, bool found_inf) {
  if (found_inf) {
    state.scale = static_cast<float>(state.scale * rule.backoff_factor);
    state.clean_steps = 0;
    return;
  }
  if (++state.clean_steps < rule.growth_interval) return;
  const auto grown = static_cast<float>(state.scale * rule.growth_factor);
  if (std::isfinite(grown)) state.scale = grown;
  state.clean_steps = 0;
}

}  // namespace trainscope::host
