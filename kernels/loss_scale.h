// What GradScaler does on the device: torch._amp_foreach_non_finite_check_and_unscale_,
// _amp_update_scale_. CPU reference: src/host/unscale.h, loss_scale.h.
//
// The scale, the growth tracker and whether a gradient was infinite stay in device memory, so no
// step waits for the host. As in PyTorch, found_inf is a float, 0 or 1.
#pragma once

#include "kernels/tensors.h"

namespace trainscope::kernels {

// gradient = gradient · *inverse, in place; *found_inf becomes 1 if a value is not finite, and is
// left as it is otherwise: fill it with 0 before. `inverse` is of the scale (number.h); null: the
// gradients are only looked at. Exact for scales that are powers of two, but for results that are
// subnormal. A launch for as many gradients as a table holds (tensors.cuh). T: float, Half,
// Bfloat16.
template <typename T>
void unscale(Stream stream, std::span<const Tensor<T>> gradients, const float* inverse,
             float* found_inf);

struct LossScaleRule {
  double growth_factor = 2;
  double backoff_factor = 0.5;
  std::int32_t growth_interval = 2000;
};

// After a step. `clean_steps` is the growth tracker.
void update_loss_scale(Stream stream, const LossScaleRule& rule, const float* found_inf,
                       float* scale, std::int32_t* clean_steps);

}  // namespace trainscope::kernels
