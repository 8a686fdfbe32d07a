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
        eps(static_cast<float>(options.eps)),
        rounds(options.rounds) {}

  // The parameter and the moments are written.
  template <typename P>
  __device__ void step(const AdamState& state, float gradient, P& parameter, P& first,
                       P& second) const {
    if (rounds) return step_in_operators(state, gradient, parameter, first, second);
    const float p = widen(parameter) * kept;
    const float g = decay == 0 ? gradient : gradient + decay * p;
    const float m = between(widen(first), g, weight1);
    const float v = beta2 * widen(second) + weight2 * g * g;
    first = narrow<P>(m);
    second = narrow<P>(v);
    parameter = narrow<P>(p - state.rate * m / (sqrtf(v) / state.correction + eps));
  }

  template <typename P>
  __device__ void step_in_operators(const AdamState& state, float gradient, P& parameter, P& first,
                                    P& second) const {
    const auto left = [](float value) { return left_by<P>(true, value); };
    const float p = left(widen(parameter) * kept);
    const float g = decay == 0 ? gradient : left(gradient + decay * p);
    const float m = left(between(widen(first), g, weight1));
    const float v = left(left(beta2 * widen(second)) + weight2 * (g * g));
    const float d = left(left(left(sqrtf(v)) / state.correction) + eps);
    first = narrow<P>(m);
    second = narrow<P>(v);
    parameter = narrow<P>(p - state.rate * (m / d));
  }

  float kept;   // of the parameter, by AdamW's decay
  float decay;  // into the gradient, by Adam's
  float weight1;
  float beta2;
  float weight2;
  float eps;
  bool rounds;
};

template <typename G, typename P, int kCount>
struct Values {
  Pack<G, kCount> gradient;
  Pack<P, kCount> parameter;
  Pack<P, kCount> first;
  Pack<P, kCount> second;
};

static_assert(TensorTable<AdamArrays<float>>::kMost == 73);

template <typename G, typename P>
__global__ void __launch_bounds__(kChunkThreads)
    adam_step_kernel(const __grid_constant__ TensorTable<AdamArrays<G, P>> table, Factors factors,
                     ScaledStep scaled, const AdamState* state) {
  if (is_skipped(scaled)) return;
  const AdamState now = *state;
  const float inverse = inverse_scale(scaled);
  const auto chunk = chunk_of_block(table);
  const AdamArrays<G, P>& arrays = chunk.tensor;
  const auto load = [&](auto width, std::size_t i) {
    constexpr int kCount = decltype(width)::kValues;
    return Values<G, P, kCount>{
        load_pack<kCount>(arrays.gradient + i), load_pack<kCount>(arrays.parameter + i),
        load_pack<kCount>(arrays.first + i), load_pack<kCount>(arrays.second + i)};
  };
  const auto use = [&](auto width, auto values, std::size_t i) {
    for (int k = 0; k < decltype(width)::kValues; ++k) {
      factors.step(now, widen(values.gradient.values[k]) * inverse, values.parameter.values[k],
                   values.first.values[k], values.second.values[k]);
    }
    store_parameters(arrays, i, values.parameter);
    store_pack(arrays.first + i, values.first);
    store_pack(arrays.second + i, values.second);
  };
  const bool aligned =
      all_aligned(arrays.gradient, arrays.parameter, arrays.first, arrays.second, arrays.rounded);
  for_chunk<kStepPack, 1>(chunk, aligned, load, use);  // four arrays: as many loads in flight
}

}  // namespace

template <typename G, typename P>
void adam_step(Stream stream, const Adam& options, const ScaledStep& scaled, AdamState* state,
               std::span<const AdamArrays<G, P>> parameters) {
  const Shape one{{1, 1, 1}, {1, 1, 1}};
  launch("begin_adam_step", begin_adam_step_kernel, stream, one, options, scaled, state);
  for_tables(parameters, [&](const auto& table, const Shape& shape) {
    launch("adam_step", adam_step_kernel<G, P>, stream, shape, table, Factors(options), scaled,
           state);
  });
}

template void adam_step(Stream, const Adam&, const ScaledStep&, AdamState*,
                        std::span<const AdamArrays<float>>);
template void adam_step(Stream, const Adam&, const ScaledStep&, AdamState*,
                        std::span<const AdamArrays<Half>>);
template void adam_step(Stream, const Adam&, const ScaledStep&, AdamState*,
                        std::span<const AdamArrays<Bfloat16>>);
template void adam_step(Stream, const Adam&, const ScaledStep&, AdamState*,
                        std::span<const AdamArrays<Half, Half>>);
template void adam_step(Stream, const Adam&, const ScaledStep&, AdamState*,
                        std::span<const AdamArrays<Bfloat16, Bfloat16>>);

}  // namespace trainscope::kernels
