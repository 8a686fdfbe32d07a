#include <cmath>

#include "kernels/optimizers.cuh"

namespace trainscope::kernels {
namespace {

// One thread. The powers are FP64, as in PyTorch; nothing else is.
__global__ void begin_adam_step_kernel(Adam options, ScaledStep scaled, AdamState* state) {
  if (is_skipped(scaled)) return;
  const auto step = static_cast<double>(++state->step);
  state->rate = static_cast<float>(options.lr / (1 - pow(options.beta1, step)));
  state->correction = static_cast<float>(sqrt(1 - pow(options.beta2, step)));
}

// a + weight (b - a), from the nearer end, as torch.lerp does.
__device__ float between(float a, float b, float weight) {
  return weight < 0.5F ? a + weight * (b - a) : b - (b - a) * (1 - weight);
}

// Of a whole run; those that change with the step are in AdamState.
struct Factors {
  explicit Factors(const Adam& options)
      : kept(static_cast<float>(options.decoupled ? 1 - options.lr * options.weight_decay : 1)),
        decay(static_cast<float>(options.decoupled ? 0 : options.weight_decay)),
        weight1(static_cast<float>(1 - options.beta1)),
        beta2(static_cast<float>(options.beta2)),
        weight2(static_cast<float>(1 - options.beta2)),
        eps(static_cast<float>(options.eps)) {}

  // The new parameter; the moments are written.
  __device__ float step(const AdamState& state, float gradient, float parameter, float& first,
                        float& second) const {
    const float p = parameter * kept;
    const float g = decay == 0 ? gradient : gradient + decay * p;
    first = between(first, g, weight1);
    second = beta2 * second + weight2 * g * g;
    return p - state.rate * first / (sqrtf(second) / state.correction + eps);
  }

  float kept;   // of the parameter, by AdamW's decay
  float decay;  // into the gradient, by Adam's
  float weight1;
  float beta2;
  float weight2;
  float eps;
};

template <int kCount, typename G>
__device__ void step_values(const Factors& factors, const AdamState& state, float inverse,
                            const ParameterArrays<G>& arrays, const AdamMoments& moments,
                            std::size_t i) {
  const auto gradient = load_pack<kCount>(arrays.gradient + i);
  auto parameter = load_pack<kCount>(arrays.parameter + i);
  auto first = load_pack<kCount>(moments.first + i);
  auto second = load_pack<kCount>(moments.second + i);
  for (int k = 0; k < kCount; ++k) {
    parameter.values[k] = factors.step(state, widen(gradient.values[k]) * inverse,
                                       parameter.values[k], first.values[k], second.values[k]);
  }
  store_parameters(arrays, i, parameter);
  store_pack(moments.first + i, first);
  store_pack(moments.second + i, second);
}

template <typename G>
__global__ void adam_step_kernel(Factors factors, ScaledStep scaled, const AdamState* state,
                                 ParameterArrays<G> arrays, AdamMoments moments,
                                 std::size_t packs) {
  if (is_skipped(scaled)) return;
  const AdamState now = *state;
  const float inverse = inverse_scale(scaled);
  for_items<kStepPack>(
      first_item(), item_step(), arrays.count, packs, [&](auto width, std::size_t i) {
        step_values<decltype(width)::kValues>(factors, now, inverse, arrays, moments, i);
      });
}

}  // namespace

void begin_adam_step(Stream stream, const Adam& options, const ScaledStep& scaled,
                     AdamState* state) {
  const Shape one{{1, 1, 1}, {1, 1, 1}};
  launch("begin_adam_step", begin_adam_step_kernel, stream, one, options, scaled, state);
}

template <typename G>
void adam_step(Stream stream, const Adam& options, const ScaledStep& scaled, const AdamState* state,
               const ParameterArrays<G>& arrays, const AdamMoments& moments) {
  if (arrays.count == 0) return;
  const std::size_t packs =
      step_packs(arrays, is_aligned(moments.first) && is_aligned(moments.second));
  launch("adam_step", adam_step_kernel<G>, stream, step_shape(arrays.count, packs),
         Factors(options), scaled, state, arrays, moments, packs);
}

template void adam_step(Stream, const Adam&, const ScaledStep&, const AdamState*,
                        const ParameterArrays<float>&, const AdamMoments&);
template void adam_step(Stream, const Adam&, const ScaledStep&, const AdamState*,
                        const ParameterArrays<Half>&, const AdamMoments&);
template void adam_step(Stream, const Adam&, const ScaledStep&, const AdamState*,
                        const ParameterArrays<Bfloat16>&, const AdamMoments&);

}  // namespace trainscope::kernels
