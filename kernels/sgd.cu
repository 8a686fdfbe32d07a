#include "kernels/optimizers.cuh"

namespace trainscope::kernels {
namespace {

struct Factors {
  Sgd options;
  float inverse;
  float fresh;  // of the gradient in the velocity
  bool first;

  template <typename P>
  __device__ float left(float value) const {
    return left_by<P>(options.rounds, value);
  }

  // The parameter and the velocity are written.
  template <typename P>
  __device__ void step(float gradient, P& parameter, P& velocity) const {
    const float p = widen(parameter);
    float g = gradient * inverse;
    if (options.weight_decay != 0) g = left<P>(g + options.weight_decay * p);
    if (options.momentum != 0) {
      const float kept = left<P>(options.momentum * (first ? 0.0F : widen(velocity)));
      const float moved = left<P>(kept + fresh * g);
      velocity = narrow<P>(moved);
      g = options.nesterov ? left<P>(g + options.momentum * moved) : moved;
    }
    parameter = narrow<P>(p - options.lr * g);
  }
};

template <typename G, typename P, int kCount>
struct Values {
  Pack<G, kCount> gradient;
  Pack<P, kCount> parameter;
  Pack<P, kCount> velocity;
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

template <typename G, typename P>
__device__ void step_chunk(const Chunk<SgdArrays<G, P>>& chunk, const Factors& factors) {
  constexpr int kAhead = 2;
  const SgdArrays<G, P>& arrays = chunk.tensor;
  const bool moves = factors.options.momentum != 0;
  const auto load = [&](auto width, std::size_t i) {
    constexpr int kCount = decltype(width)::kValues;
    Values<G, P, kCount> values{
        load_pack<kCount>(arrays.gradient + i), load_pack<kCount>(arrays.parameter + i), {}};
    if (moves) values.velocity = load_pack<kCount>(arrays.velocity + i);
    return values;
  };
  const auto use = [&](auto width, auto values, std::size_t i) {
    for (int k = 0; k < decltype(width)::kValues; ++k) {
      factors.step(widen(values.gradient.values[k]), values.parameter.values[k],
                   values.velocity.values[k]);
    }
    store_parameters(arrays, i, values.parameter);
    if (moves) store_pack(arrays.velocity + i, values.velocity);
  };
  const P* velocity = moves ? arrays.velocity : nullptr;
  const bool aligned = all_aligned(arrays.gradient, arrays.parameter, velocity, arrays.rounded);
  for_chunk<kStepPack, kAhead>(chunk, aligned, load, use);
}

static_assert(TensorTable<SgdArrays<float>>::kMost == 87);

// `blocks` are those of all launches of the step.
template <typename G, typename P>
__global__ void __launch_bounds__(kChunkThreads)
    sgd_step_kernel(const __grid_constant__ TensorTable<SgdArrays<G, P>> table, Sgd options,
                    ScaledStep scaled, SgdState* state, std::uint32_t blocks) {
  if (is_skipped(scaled)) return;
  const bool first = options.momentum != 0 && state->steps == 0;
  const Factors factors{options, inverse_scale(scaled), first ? 1.0F : 1 - options.dampening,
                        first};
  step_chunk(chunk_of_block(table), factors);
  if (options.momentum != 0) count_step(state, blocks);
}

}  // namespace

template <typename G, typename P>
void sgd_step(Stream stream, const Sgd& options, const ScaledStep& scaled, SgdState* state,
              std::span<const SgdArrays<G, P>> parameters) {
  std::size_t blocks = 0;
  for (const SgdArrays<G, P>& one : parameters) blocks += chunks_of(one.count);
  for_tables(parameters, [&](const auto& table, const Shape& shape) {
    launch("sgd_step", sgd_step_kernel<G, P>, stream, shape, table, options, scaled, state,
           static_cast<std::uint32_t>(blocks));
  });
}

template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<float>>);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<Half>>);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<Bfloat16>>);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<Half, Half>>);
template void sgd_step(Stream, const Sgd&, const ScaledStep&, SgdState*,
                       std::span<const SgdArrays<Bfloat16, Bfloat16>>);

}  // namespace trainscope::kernels
