#include "kernels/optimizers.cuh"

namespace trainscope::kernels {
namespace {

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

template <typename G, int kCount>
struct Values {
  Pack<G, kCount> gradient;
  Pack<float, kCount> parameter;
  Pack<float, kCount> velocity;
};

// Called by every block of a step when it has read how many came before; the last one counts it.
__device__ void count_step(SgdState* state, std::uint32_t blocks) {
  __syncthreads();
  if (threadIdx.x != 0) return;
  __threadfence();
  if (atomicAdd(&state->done, 1U) + 1 != blocks) return;
  state->done = 0;
  ++state->steps;
}

template <typename G>
__device__ void step_chunk(const Chunk<SgdArrays<G>>& chunk, const Factors& factors) {
  constexpr int kAhead = 2;
  const SgdArrays<G>& arrays = chunk.tensor;
  const bool moves = factors.options.momentum != 0;
  const auto load = [&](auto width, std::size_t i) {
    constexpr int kCount = decltype(width)::kValues;
    Values<G, kCount> values{
        load_pack<kCount>(arrays.gradient + i), load_pack<kCount>(arrays.parameter + i), {}};
    if (moves) values.velocity = load_pack<kCount>(arrays.velocity + i);
    return values;
  };
  const auto use = [&](auto width, auto values, std::size_t i) {
    for (int k = 0; k < decltype(width)::kValues; ++k) {
      values.parameter.values[k] = factors.step(
          widen(values.gradient.values[k]), values.parameter.values[k], values.velocity.values[k]);
    }
    store_parameters(arrays, i, values.parameter);
    if (moves) store_pack(arrays.velocity + i, values.velocity);
  };
  const float* velocity = moves ? arrays.velocity : nullptr;
  const bool aligned = all_aligned(arrays.gradient, arrays.parameter, velocity, arrays.rounded);
  for_chunk<kStepPack, kAhead>(chunk, aligned, load, use);
}

static_assert(TensorTable<SgdArrays<float>>::kMost == 87);

// `blocks` are those of all launches of the step.
template <typename G>
__global__ void __launch_bounds__(kChunkThreads)
    sgd_step_kernel(const __grid_constant__ TensorTable<SgdArrays<G>> table, Sgd options,
                    ScaledStep scaled, SgdState* state, std::uint32_t blocks) {
  if (is_skipped(scaled)) return;
  const bool first = options.momentum != 0 && state->steps == 0;
  const Factors factors{options, inverse_scale(scaled), first ? 1.0F : 1 - options.dampening,
                        first};
  step_chunk(chunk_of_block(table), factors);
  if (options.momentum != 0) count_step(state, blocks);
}

}  // namespace

template <typename G>
void sgd_step(Stream stream, const Sgd& options, const ScaledStep& scaled, SgdState* state,
              std::span<const SgdArrays<G>> parameters) {
  std::size_t blocks = 0;
  for (const SgdArrays<G>& one : parameters) blocks += chunks_of(one.count);
  for_tables(parameters, [&](const auto& table, const Shape& shape) {
    launch("sgd_step", sgd_step_kernel<G>, stream, shape, table, options, scaled, state,
           static_cast<std::uint32_t>(blocks));
  });
}

template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<float>>);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<Half>>);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<Bfloat16>>);

}  // namespace trainscope::kernels
