// The steps of a chain for some values at once: from one source for kernels that read them and for
// kernels that were compiled for them (chain_form.cuh).
#pragma once

#include "base/random.h"
#include "kernels/activation.cuh"
#include "kernels/chain_memory.cuh"

namespace trainscope::kernels {

// As many values as a thread carries at once that reads its steps.
inline constexpr int kReadWidth = 4;

template <typename Type, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> rounded(Type type, const ChainValues<kWidth>& x) {
  return with_number(type, [&](auto number) {
    return chain_values<kWidth>(
        [&](int k) { return widen(narrow<decltype(number)>(x.values[k])); });
  });
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
template <ChainAction kAction, typename Steps, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> done(const Steps& steps, const ChainStep& step,
                                                    const ChainPlaces<kWidth>& at,
                                                    const ChainValues<kWidth>* registers) {
  using enum ChainAction;
  const float factor = step.factor;
  if constexpr (kAction == kFill) {
    return chain_values<kWidth>([&](int) { return factor; });
  } else if constexpr (kAction == kDrop) {
    const Dropout& drop = steps.chain.drops[step.b];
    if constexpr (Steps::kAreKnown) return dropped(drop, factor, at, registers[step.a]);
    return dropped_called(drop, factor, at, registers[step.a]);
  } else {
    const ChainValues<kWidth> a = registers[step.a];
    if constexpr (kAction == kMove) return a;
    if constexpr (kAction == kScale)
      return chain_values<kWidth>([&](int k) { return __fmul_rn(factor, a.values[k]); });
    if constexpr (kAction == kRelu) return activated<Relu>(a);
    if constexpr (kAction == kGeluErf) return activated<GeluErf>(a);
    if constexpr (kAction == kGeluTanh) return activated<GeluTanh>(a);
    if constexpr (kAction == kTanh) return activated<Tanh>(a);
    const ChainValues<kWidth> b = registers[step.b];
    if constexpr (kAction == kAdd)
      return chain_values<kWidth>([&](int k) { return a.values[k] + b.values[k]; });
    if constexpr (kAction == kScaleBy)
      return chain_values<kWidth>(
          [&](int k) { return __fmul_rn(factor * b.values[k], a.values[k]); });
    if constexpr (kAction == kReluSlope) return sloped<Relu>(a, b);
    if constexpr (kAction == kGeluErfSlope) return sloped<GeluErf>(a, b);
    if constexpr (kAction == kGeluTanhSlope) return sloped<GeluTanh>(a, b);
    if constexpr (kAction == kTanhSlope) return sloped<Tanh>(a, b);
  }
}

template <typename Steps, typename K, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> result_of(const Steps& steps, K k,
                                                         const ChainPlaces<kWidth>& at,
                                                         const ChainValues<kWidth>* registers) {
  using enum ChainAction;
  const ChainStep& step = steps.step(k);
  const auto action = steps.action(k);
  if constexpr (Steps::kAreKnown) {
    return done<decltype(action)::kIs>(steps, step, at, registers);
  } else {
    switch (action) {
      case kMove:
        return done<kMove>(steps, step, at, registers);
      case kAdd:
        return done<kAdd>(steps, step, at, registers);
      case kScale:
        return done<kScale>(steps, step, at, registers);
      case kScaleBy:
        return done<kScaleBy>(steps, step, at, registers);
      case kFill:
        return done<kFill>(steps, step, at, registers);
      case kDrop:
        return done<kDrop>(steps, step, at, registers);
      case kRelu:
        return done<kRelu>(steps, step, at, registers);
      case kReluSlope:
        return done<kReluSlope>(steps, step, at, registers);
      case kGeluErf:
        return done<kGeluErf>(steps, step, at, registers);
      case kGeluErfSlope:
        return done<kGeluErfSlope>(steps, step, at, registers);
      case kGeluTanh:
        return done<kGeluTanh>(steps, step, at, registers);
      case kGeluTanhSlope:
        return done<kGeluTanhSlope>(steps, step, at, registers);
      case kTanh:
        return done<kTanh>(steps, step, at, registers);
      case kTanhSlope:
        return done<kTanhSlope>(steps, step, at, registers);
    }
    return {};
  }
}

// The steps from `begin` to before `end`.
template <typename Steps, typename Begin, typename End, int kWidth>
__device__ __forceinline__ void run_steps(const Steps& steps, Begin begin, End end,
                                          const ChainPlaces<kWidth>& at,
                                          ChainValues<kWidth>* registers) {
  for_each(begin, end, [&](auto k) {
    registers[steps.step(k).result] =
        rounded(steps.step_type(k), result_of(steps, k, at, registers));
  });
}

// All of it. Registers that no read and no step fills are the caller's.
template <typename Steps, int kWidth>
__device__ __forceinline__ void run_values(const Steps& steps, const ChainPlaces<kWidth>& at,
                                           ChainValues<kWidth>* registers) {
  load_all(steps, at, registers);
  run_steps(steps, Known<0>{}, steps.steps(), at, registers);
  store_all(steps, at, registers);
}

}  // namespace trainscope::kernels
