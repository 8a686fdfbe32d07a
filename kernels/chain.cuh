// The steps of a chain for some values at once: from one source for kernels that read them and for
// kernels that were compiled for them (chain_memory.cuh).
#pragma once

#include "base/random.h"
#include "kernels/activation.cuh"
#include "kernels/chain_memory.cuh"

namespace trainscope::kernels {

// As many values as a thread carries at once that reads its steps.
inline constexpr int kReadWidth = 4;

template <int kWidth>
__device__ __forceinline__ ChainValues<kWidth> rounded(NumberType type,
                                                       const ChainValues<kWidth>& x) {
  if (type == NumberType::kFp16)
    return chain_values<kWidth>([&](int k) { return widen(narrow<Half>(x.values[k])); });
  if (type == NumberType::kBf16)
    return chain_values<kWidth>([&](int k) { return widen(narrow<Bfloat16>(x.values[k])); });
  return x;
}

inline __device__ std::uint32_t word_of(const PhiloxCounter& drawn, unsigned k) {
  const std::uint32_t low = k == 0 ? drawn.words[0] : drawn.words[1];
  const std::uint32_t high = k == 2 ? drawn.words[2] : drawn.words[3];
  return k < 2 ? low : high;
}

// As dropout.h: one word of the stream for each value. Where the values begin with a block of
// words, each is found when the code is compiled.
template <int kWidth>
__device__ __forceinline__ ChainValues<kWidth> dropped(const Dropout& drop, float scale,
                                                       const ChainPlaces<kWidth>& at,
                                                       const ChainValues<kWidth>& x) {
  constexpr int kWords = 4;
  const std::uint64_t first_word = drop.first_word();
  std::uint64_t block = (first_word + at.first) / kWords;
  const auto draw = [&](std::uint64_t number) {
    return random_block(drop.seed, number, drop.stream);
  };
  const auto kept = [&](std::uint32_t word, float value) {
    return unit_float(word) >= drop.p ? __fmul_rn(value, scale) : 0.0F;
  };
  if (kWidth % kWords == 0 && at.packed && first_word % kWords == 0) {
    PhiloxCounter drawn[(kWidth + kWords - 1) / kWords];
    TRAINSCOPE_UNROLLED
    for (int b = 0; b < kWidth / kWords; ++b) drawn[b] = draw(block + static_cast<unsigned>(b));
    return chain_values<kWidth>(
        [&](int k) { return kept(drawn[k / kWords].words[k % kWords], x.values[k]); });
  }
  PhiloxCounter drawn = draw(block);
  float value = x.values[0];
  return long_chain_values(at, [&](int k) {
    const std::uint64_t word = first_word + at.at(k);
    if (word / kWords != block) {
      block = word / kWords;
      drawn = draw(block);
    }
    TRAINSCOPE_UNROLLED
    for (int n = 1; n < kWidth; ++n) value = n == k ? x.values[n] : value;
    return kept(word_of(drawn, static_cast<unsigned>(word % kWords)), value);
  });
}

template <int kWidth>
__device__ TRAINSCOPE_OUT_OF_LINE ChainValues<kWidth> dropped_called(const Dropout& drop,
                                                                     float scale,
                                                                     const ChainPlaces<kWidth>& at,
                                                                     const ChainValues<kWidth>& x) {
  return dropped(drop, scale, at, x);
}

template <typename Activation, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> activated(const ChainValues<kWidth>& z) {
  return chain_values<kWidth>([&](int k) { return Activation{}.value(z.values[k]); });
}

template <typename Activation, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> sloped(const ChainValues<kWidth>& z,
                                                      const ChainValues<kWidth>& dy) {
  return chain_values<kWidth>([&](int k) { return Activation{}.slope(z.values[k], dy.values[k]); });
}

// Products are none that a device fuses with a sum of the next step.
template <typename Steps, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> result_of(const Steps& steps, const ChainStep& step,
                                                         const ChainPlaces<kWidth>& at,
                                                         const ChainValues<kWidth>* registers) {
  const float factor = step.factor;
  if (step.action == ChainAction::kFill) return chain_values<kWidth>([&](int) { return factor; });
  const ChainValues<kWidth> a = registers[step.a];
  if (step.action == ChainAction::kDrop) {
    const Dropout& drop = steps.chain.drops[step.b];
    if constexpr (Steps::kAreKnown) return dropped(drop, factor, at, a);
    return dropped_called(drop, factor, at, a);
  }
  if (step.action == ChainAction::kMove) return a;
  if (step.action == ChainAction::kScale)
    return chain_values<kWidth>([&](int k) { return __fmul_rn(factor, a.values[k]); });
  if (step.action == ChainAction::kRelu) return activated<Relu>(a);
  if (step.action == ChainAction::kGeluErf) return activated<GeluErf>(a);
  if (step.action == ChainAction::kGeluTanh) return activated<GeluTanh>(a);
  const ChainValues<kWidth> b = registers[step.b];
  switch (step.action) {
    case ChainAction::kAdd:
      return chain_values<kWidth>([&](int k) { return a.values[k] + b.values[k]; });
    case ChainAction::kScaleBy:
      return chain_values<kWidth>(
          [&](int k) { return __fmul_rn(factor * b.values[k], a.values[k]); });
    case ChainAction::kReluSlope:
      return sloped<Relu>(a, b);
    case ChainAction::kGeluErfSlope:
      return sloped<GeluErf>(a, b);
    case ChainAction::kGeluTanhSlope:
      return sloped<GeluTanh>(a, b);
    default:
      return a;
  }
}

// The steps from `begin` to before `end`.
template <typename Steps, int kWidth>
__device__ __forceinline__ void run_steps(const Steps& steps, int begin, int end,
                                          const ChainPlaces<kWidth>& at,
                                          ChainValues<kWidth>* registers) {
  for_each_of<Steps>(begin, end, [&](int k) {
    const ChainStep& step = steps.form().steps[k];
    registers[step.result] = rounded(step.type, result_of(steps, step, at, registers));
  });
}

// All of it. Registers that no read and no step fills are the caller's.
template <typename Steps, int kWidth>
__device__ __forceinline__ void run_values(const Steps& steps, const ChainPlaces<kWidth>& at,
                                           ChainValues<kWidth>* registers) {
  load_all(steps, at, registers);
  run_steps(steps, 0, steps.form().step_count, at, registers);
  store_all(steps, at, registers);
}

}  // namespace trainscope::kernels
