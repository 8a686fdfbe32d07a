// The steps of a chain for one value.
#pragma once

#include "base/random.h"
#include "kernels/activation.cuh"
#include "kernels/chain.h"
#include "kernels/pool_gradients.cuh"

namespace trainscope::kernels {

template <typename T>
__device__ float row_of_table(const ChainOperand& from, std::size_t i) {
  const std::int64_t row = static_cast<const std::int64_t*>(from.index)[i / from.extent];
  if (row < 0 || row >= static_cast<std::int64_t>(from.rows)) __trap();
  const std::size_t at = static_cast<std::size_t>(row) * from.extent + i % from.extent;
  return widen(static_cast<const T*>(from.memory)[at]);
}

template <typename T>
__device__ float load(const Chain& chain, const ChainOperand& from, std::size_t i) {
  const T* memory = static_cast<const T*>(from.memory);
  switch (from.from) {
    case ChainFrom::kEach:
      break;
    case ChainFrom::kSingle:
      return widen(memory[0]);
    case ChainFrom::kRepeated:
      return widen(memory[i % from.extent]);
    case ChainFrom::kRowOf:
      return row_of_table<T>(from, i);
    case ChainFrom::kMaxPool:
      return MaxPoolGradient<T>{chain.pool, memory,
                                static_cast<const std::int32_t*>(from.index)}(i);
    case ChainFrom::kAveragePool:
      return AveragePoolGradient<T>{chain.pool.input, memory}(i);
  }
  return widen(memory[i]);
}

inline __device__ float load(const Chain& chain, const ChainOperand& from, std::size_t i) {
  if (from.type == NumberType::kFp16) return load<Half>(chain, from, i);
  if (from.type == NumberType::kBf16) return load<Bfloat16>(chain, from, i);
  return load<float>(chain, from, i);
}

inline __device__ void store(const ChainOperand& to, std::size_t i, float value) {
  switch (to.type) {
    case NumberType::kFp16:
      static_cast<Half*>(to.memory)[i] = narrow<Half>(value);
      return;
    case NumberType::kBf16:
      static_cast<Bfloat16*>(to.memory)[i] = narrow<Bfloat16>(value);
      return;
    case NumberType::kFp32:
      static_cast<float*>(to.memory)[i] = value;
  }
}

inline __device__ float rounded(NumberType type, float value) {
  if (type == NumberType::kFp16) return widen(narrow<Half>(value));
  if (type == NumberType::kBf16) return widen(narrow<Bfloat16>(value));
  return value;
}

// As dropout.h: one word of the stream for each value.
inline __device__ float dropped(const Dropout& drop, float scale, std::size_t i, float value) {
  constexpr std::uint64_t kWords = 4;
  const std::uint64_t word = drop.first_word() + i;
  const PhiloxCounter drawn = random_block(drop.seed, word / kWords, drop.stream);
  return unit_float(drawn.words[word % kWords]) >= drop.p ? value * scale : 0.0F;
}

inline __device__ float result_of(const Chain& chain, const ChainStep& step, std::size_t i,
                                  const float* registers) {
  const float a = registers[step.a];
  if (step.action == ChainAction::kDrop) return dropped(chain.drops[step.b], step.factor, i, a);
  const float b = registers[step.b];
  switch (step.action) {
    case ChainAction::kAdd:
      return a + b;
    case ChainAction::kScale:
      return step.factor * a;
    case ChainAction::kScaleBy:
      return step.factor * b * a;
    case ChainAction::kFill:
      return step.factor;
    case ChainAction::kRelu:
      return Relu{}.value(a);
    case ChainAction::kReluSlope:
      return Relu{}.slope(a, b);
    case ChainAction::kGeluErf:
      return GeluErf{}.value(a);
    case ChainAction::kGeluErfSlope:
      return GeluErf{}.slope(a, b);
    case ChainAction::kGeluTanh:
      return GeluTanh{}.value(a);
    case ChainAction::kGeluTanhSlope:
      return GeluTanh{}.slope(a, b);
    default:
      return a;
  }
}

inline __device__ void load_all(const Chain& chain, std::size_t i, float* registers) {
  for (int k = 0; k < chain.read_count; ++k)
    registers[chain.reads[k].place] = load(chain, chain.reads[k], i);
}

// The steps from `begin` to before `end`.
inline __device__ void run_steps(const Chain& chain, int begin, int end, std::size_t i,
                                 float* registers) {
  for (int k = begin; k < end; ++k) {
    const ChainStep& step = chain.steps[k];
    registers[step.result] = rounded(step.type, result_of(chain, step, i, registers));
  }
}

inline __device__ void store_all(const Chain& chain, std::size_t i, const float* registers) {
  for (int k = 0; k < chain.write_count; ++k)
    store(chain.writes[k], i, registers[chain.writes[k].place]);
}

// All of it. Registers that no read and no step fills are the caller's.
inline __device__ void run_value(const Chain& chain, std::size_t i, float* registers) {
  load_all(chain, i, registers);
  run_steps(chain, 0, chain.step_count, i, registers);
  store_all(chain, i, registers);
}

}  // namespace trainscope::kernels
