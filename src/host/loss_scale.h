// What GradScaler keeps on the device: torch/amp/grad_scaler.py, _amp_update_scale_.
#pragma once

#include <cstdint>

namespace trainscope::host {

struct LossScale {
  float scale = 65536;
  std::int32_t clean_steps = 0;  // since it last changed: the growth tracker
};

struct LossScaleRule {
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int64_t growth_interval = 2000;
};

// After a step. The scale never grows beyond what FP32 can hold; it may shrink without end.
void update(LossScale& state, const LossScaleRule& rule, bool found_inf);

}  // namespace trainscope::host
