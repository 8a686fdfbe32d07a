#include "kernels/optimizers.cuh"

namespace trainscope::kernels {
namespace {

__global__ void begin_sgd_step_kernel(ScaledStep scaled, std::int64_t* step) {
  if (!is_skipped(scaled)) ++*step;
}

struct Factors {
  Sgd options;
  float inverse;
  float fresh;  // of the gradient in the velocity
  bool first;

  // The new parameter; the velocity is written.
  __device__ float step(float gradient, float parameter, float& velocity) const {
    float g = gradient * inverse;
    if (options.weight_decay != 0) g += options.weight_decay * parameter;
    if (options.momentum == 0) return parameter - options.lr * g;
    velocity = options.momentum * (first ? 0.0F : velocity) + fresh * g;
    const float change = options.nesterov ? g + options.momentum * velocity : velocity;
    return parameter - options.lr * change;
  }
};

template <int kCount, typename G>
__device__ void step_values(const Factors& factors, const ParameterArrays<G>& arrays,
                            float* velocity, std::size_t i) {
  const auto gradient = load_pack<kCount>(arrays.gradient + i);
  auto parameter = load_pack<kCount>(arrays.parameter + i);
  Pack<float, kCount> speed{};
  if (velocity != nullptr) speed = load_pack<kCount>(velocity + i);
  for (int k = 0; k < kCount; ++k) {
    parameter.values[k] =
        factors.step(widen(gradient.values[k]), parameter.values[k], speed.values[k]);
  }
  store_parameters(arrays, i, parameter);
  if (velocity != nullptr) store_pack(velocity + i, speed);
}

template <typename G>
__global__ void sgd_step_kernel(Sgd options, ScaledStep scaled, const std::int64_t* step,
                                ParameterArrays<G> arrays, float* velocity, std::size_t packs) {
  if (is_skipped(scaled)) return;
  const bool first = *step == 1;
  const Factors factors{options, inverse_scale(scaled), first ? 1.0F : 1 - options.dampening,
                        first};
  for_items<kStepPack>(first_item(), item_step(), arrays.count, packs,
                       [&](auto width, std::size_t i) {
                         step_values<decltype(width)::kValues>(factors, arrays, velocity, i);
                       });
}

}  // namespace

void begin_sgd_step(Stream stream, const ScaledStep& scaled, std::int64_t* step) {
  const Shape one{{1, 1, 1}, {1, 1, 1}};
  launch("begin_sgd_step", begin_sgd_step_kernel, stream, one, scaled, step);
}

template <typename G>
void sgd_step(Stream stream, const Sgd& options, const ScaledStep& scaled, const std::int64_t* step,
              const ParameterArrays<G>& arrays, float* velocity) {
  if (arrays.count == 0) return;
  float* kept = options.momentum == 0 ? nullptr : velocity;
  const std::size_t packs = step_packs(arrays, is_aligned(kept));
  launch("sgd_step", sgd_step_kernel<G>, stream, step_shape(arrays.count, packs), options, scaled,
         step, arrays, kept, packs);
}

template void sgd_step(Stream, const Sgd&, const ScaledStep&, const std::int64_t*,
                       const ParameterArrays<float>&, float*);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, const std::int64_t*,
                       const ParameterArrays<Half>&, float*);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, const std::int64_t*,
                       const ParameterArrays<Bfloat16>&, float*);

}  // namespace trainscope::kernels
