#include "kernels/loss_scale.h"

#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

constexpr unsigned kExponent = 0x7f800000;

struct Unscaled {
  const float* scale;
  float* found_inf;

  __device__ float operator()(std::size_t, float g) const {
    // Whichever thread writes, it writes the same.
    if ((__float_as_uint(g) & kExponent) == kExponent) *found_inf = 1;
    return g * (1 / *scale);
  }
};

// One thread.
__global__ void update_loss_scale_kernel(LossScaleRule rule, const float* found_inf, float* scale,
                                         std::int32_t* clean_steps) {
  if (*found_inf != 0) {
    *scale = static_cast<float>(*scale * rule.backoff_factor);
    *clean_steps = 0;
    return;
  }
  const std::int32_t clean = *clean_steps + 1;
  if (clean < rule.growth_interval) {
    *clean_steps = clean;
    return;
  }
  const auto grown = static_cast<float>(*scale * rule.growth_factor);
  if ((__float_as_uint(grown) & kExponent) != kExponent) *scale = grown;
  *clean_steps = 0;
}

}  // namespace

template <typename T>
void unscale(Stream stream, T* gradient, std::size_t count, const float* scale, float* found_inf) {
  map("unscale", stream, Unscaled{scale, found_inf}, count, gradient, gradient);
}

void update_loss_scale(Stream stream, const LossScaleRule& rule, const float* found_inf,
                       float* scale, std::int32_t* clean_steps) {
  const Shape one{{1, 1, 1}, {1, 1, 1}};
  launch("update_loss_scale", update_loss_scale_kernel, stream, one, rule, found_inf, scale,
         clean_steps);
}

template void unscale(Stream, float*, std::size_t, const float*, float*);
template void unscale(Stream, Half*, std::size_t, const float*, float*);
template void unscale(Stream, Bfloat16*, std::size_t, const float*, float*);

}  // namespace trainscope::kernels
