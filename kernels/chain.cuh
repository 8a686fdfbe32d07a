// The steps of a chain for some values at once.
#pragma once

#include "base/random.h"
#include "kernels/activation.cuh"
#include "kernels/chain.h"
#include "kernels/pool_gradients.cuh"

namespace trainscope::kernels {

// As many values as a thread carries at once.
inline constexpr int kChainWidth = 4;
using ChainValues = Pack<float, kChainWidth>;

// Where they lie, `apart` from one another. Those from `count` on are the last again, so that there
// are always as many.
struct ChainPlaces {
  std::size_t first = 0;
  std::size_t apart = 1;
  int count = kChainWidth;
  bool packed = false;  // all of them side by side, and aligned in what is read and written there

  __device__ std::size_t at(int k) const {
    return first + apart * static_cast<std::size_t>(k < count ? k : count - 1);
  }
};

// f(k) being value k.
template <typename Function>
__device__ ChainValues chain_values(const Function& f) {
  ChainValues values;
  for (int k = 0; k < kChainWidth; ++k) values.values[k] = f(k);
  return values;
}

// Likewise, where f is long: compiled once, not for each value.
template <typename Function>
__device__ ChainValues long_chain_values(const ChainPlaces& at, const Function& f) {
  ChainValues values;
  float value = 0;
  TRAINSCOPE_ONE_AT_A_TIME
  for (int k = 0; k < at.count; ++k) values.values[k] = value = f(k);
  for (int k = at.count; k < kChainWidth; ++k) values.values[k] = value;
  return values;
}

template <typename T>
__device__ float row_of_table(const ChainRead& from, std::size_t i) {
  const auto place = from.extent.split(i);
  const std::int64_t row = static_cast<const std::int64_t*>(from.index)[place.quotient];
  if (row < 0 || row >= static_cast<std::int64_t>(from.rows)) __trap();
  const std::size_t at = static_cast<std::size_t>(row) * from.extent.by() + place.rest;
  return widen(static_cast<const T*>(from.memory)[at]);
}

template <typename T>
__device__ float load_value(const Chain& chain, const ChainRead& from, std::size_t i) {
  const T* memory = static_cast<const T*>(from.memory);
  switch (from.from) {
    case ChainFrom::kEach:
      break;
    case ChainFrom::kSingle:
      return widen(memory[0]);
    case ChainFrom::kRepeated:
      return widen(memory[from.extent.split(i).rest]);
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

// From anywhere.
inline __device__ TRAINSCOPE_OUT_OF_LINE void load(const Chain& chain, const ChainRead& from,
                                                   const ChainPlaces& at, ChainValues& values) {
  values = long_chain_values(at, [&](int k) {
    if (from.type == NumberType::kFp16) return load_value<Half>(chain, from, at.at(k));
    if (from.type == NumberType::kBf16) return load_value<Bfloat16>(chain, from, at.at(k));
    return load_value<float>(chain, from, at.at(k));
  });
}

// Values as they lie in memory, side by side: 16 bytes hold them in any type.
struct ChainBytes {
  std::uint32_t words[kChainWidth];
};

inline __device__ ChainBytes load_bytes(const ChainRead& read, std::size_t first) {
  ChainBytes bytes = {};
  if (read.type == NumberType::kFp32) {
    const auto pack = load_pack<kChainWidth>(static_cast<const float*>(read.memory) + first);
    __builtin_memcpy(&bytes, &pack, sizeof(pack));
    return bytes;
  }
  // As one number: a pack's values would be cut apart.
  constexpr std::size_t kBytes = kChainWidth * sizeof(Half);
  const Half* from = static_cast<const Half*>(read.memory) + first;
  require_aligned<Pack<Half, kChainWidth>>(from);
  __builtin_memcpy(&bytes, __builtin_assume_aligned(from, kBytes), kBytes);
  return bytes;
}

template <typename T>
__device__ ChainValues values_of(const ChainBytes& bytes) {
  Pack<T, kChainWidth> pack;
  __builtin_memcpy(&pack, &bytes, sizeof(pack));
  return chain_values([&](int k) { return widen(pack.values[k]); });
}

inline __device__ ChainValues values_of(NumberType type, const ChainBytes& bytes) {
  if (type == NumberType::kFp16) return values_of<Half>(bytes);
  if (type == NumberType::kBf16) return values_of<Bfloat16>(bytes);
  return values_of<float>(bytes);
}

template <typename T>
__device__ void store(T* memory, const ChainPlaces& at, const ChainValues& values) {
  Pack<T, kChainWidth> pack;
  for (int k = 0; k < kChainWidth; ++k) pack.values[k] = narrow<T>(values.values[k]);
  if (at.packed) return store_pack(memory + at.first, pack);
  for (int k = 0; k < kChainWidth; ++k) memory[at.at(k)] = pack.values[k];
}

inline __device__ void store(const ChainWrite& to, const ChainPlaces& at,
                             const ChainValues& values) {
  if (to.type == NumberType::kFp16) return store(static_cast<Half*>(to.memory), at, values);
  if (to.type == NumberType::kBf16) return store(static_cast<Bfloat16*>(to.memory), at, values);
  store(static_cast<float*>(to.memory), at, values);
}

template <typename T>
__device__ ChainValues rounded_to(const ChainValues& x) {
  return chain_values([&](int k) { return widen(narrow<T>(x.values[k])); });
}

inline __device__ ChainValues rounded(NumberType type, const ChainValues& x) {
  if (type == NumberType::kFp16) return rounded_to<Half>(x);
  if (type == NumberType::kBf16) return rounded_to<Bfloat16>(x);
  return x;
}

// As dropout.h: one word of the stream for each value.
template <typename Values>
__device__ TRAINSCOPE_OUT_OF_LINE Values dropped(const Dropout& drop, float scale,
                                                 const ChainPlaces& at, const Values& x) {
  constexpr std::uint64_t kWords = 4;
  const std::uint64_t first_word = drop.first_word();
  std::uint64_t block = (first_word + at.first) / kWords;
  PhiloxCounter drawn = random_block(drop.seed, block, drop.stream);
  return long_chain_values(at, [&](int k) {
    const std::uint64_t word = first_word + at.at(k);
    if (word / kWords != block) {
      block = word / kWords;
      drawn = random_block(drop.seed, block, drop.stream);
    }
    return unit_float(drawn.words[word % kWords]) >= drop.p ? x.values[k] * scale : 0.0F;
  });
}

template <typename Activation>
__device__ ChainValues activated(const ChainValues& z) {
  return chain_values([&](int k) { return Activation{}.value(z.values[k]); });
}

template <typename Activation>
__device__ ChainValues sloped(const ChainValues& z, const ChainValues& dy) {
  return chain_values([&](int k) { return Activation{}.slope(z.values[k], dy.values[k]); });
}

inline __device__ ChainValues result_of(const Chain& chain, const ChainStep& step,
                                        const ChainPlaces& at, const ChainValues* registers) {
  const float factor = step.factor;
  if (step.action == ChainAction::kFill) return chain_values([&](int) { return factor; });
  const ChainValues a = registers[step.a];
  if (step.action == ChainAction::kDrop) return dropped(chain.drops[step.b], factor, at, a);
  const ChainValues b = registers[step.b];
  switch (step.action) {
    case ChainAction::kAdd:
      return chain_values([&](int k) { return a.values[k] + b.values[k]; });
    case ChainAction::kScale:
      return chain_values([&](int k) { return factor * a.values[k]; });
    case ChainAction::kScaleBy:
      return chain_values([&](int k) { return factor * b.values[k] * a.values[k]; });
    case ChainAction::kRelu:
      return activated<Relu>(a);
    case ChainAction::kReluSlope:
      return sloped<Relu>(a, b);
    case ChainAction::kGeluErf:
      return activated<GeluErf>(a);
    case ChainAction::kGeluErfSlope:
      return sloped<GeluErf>(a, b);
    case ChainAction::kGeluTanh:
      return activated<GeluTanh>(a);
    case ChainAction::kGeluTanhSlope:
      return sloped<GeluTanh>(a, b);
    default:
      return a;
  }
}

inline __device__ bool is_packed(const ChainRead& read, const ChainPlaces& at) {
  return at.packed && read.from == ChainFrom::kEach;
}

// Loads that a thread has under way at once.
inline constexpr int kChainLoads = 2;

inline __device__ void load_packed(const Chain& chain, int begin, const ChainPlaces& at,
                                   ChainValues* registers) {
  ChainBytes bytes[kChainLoads];
  for (int n = 0; n < kChainLoads; ++n) {
    const ChainRead& read = chain.reads[begin + n];
    if (begin + n < chain.read_count && is_packed(read, at)) bytes[n] = load_bytes(read, at.first);
  }
  for (int n = 0; n < kChainLoads; ++n) {
    const ChainRead& read = chain.reads[begin + n];
    if (begin + n < chain.read_count && is_packed(read, at))
      registers[read.place] = values_of(read.type, bytes[n]);
  }
}

inline __device__ void load_all(const Chain& chain, const ChainPlaces& at, ChainValues* registers) {
  for (int k = 0; k < chain.read_count; k += kChainLoads) load_packed(chain, k, at, registers);
  for (int k = 0; k < chain.read_count; ++k) {
    const ChainRead& read = chain.reads[k];
    if (!is_packed(read, at)) load(chain, read, at, registers[read.place]);
  }
}

// The steps from `begin` to before `end`.
inline __device__ void run_steps(const Chain& chain, int begin, int end, const ChainPlaces& at,
                                 ChainValues* registers) {
  for (int k = begin; k < end; ++k) {
    const ChainStep& step = chain.steps[k];
    registers[step.result] = rounded(step.type, result_of(chain, step, at, registers));
  }
}

inline __device__ void store_all(const Chain& chain, const ChainPlaces& at,
                                 const ChainValues* registers) {
  for (int k = 0; k < chain.write_count; ++k)
    store(chain.writes[k], at, registers[chain.writes[k].place]);
}

// All of it. Registers that no read and no step fills are the caller's.
inline __device__ void run_values(const Chain& chain, const ChainPlaces& at,
                                  ChainValues* registers) {
  load_all(chain, at, registers);
  run_steps(chain, 0, chain.step_count, at, registers);
  store_all(chain, at, registers);
}

inline bool is_chain_aligned(const void* memory, NumberType type) {
  const std::size_t bytes = type == NumberType::kFp32 ? sizeof(float) : sizeof(Half);
  return is_aligned(memory, kChainWidth * bytes);
}

// Values that lie side by side may be read and written at once, where the first is a multiple of
// their number.
inline bool is_packed(const Chain& chain) {
  for (int k = 0; k < chain.read_count; ++k) {
    const ChainRead& read = chain.reads[k];
    if (read.from == ChainFrom::kEach && !is_chain_aligned(read.memory, read.type)) return false;
  }
  for (int k = 0; k < chain.write_count; ++k)
    if (!is_chain_aligned(chain.writes[k].memory, chain.writes[k].type)) return false;
  return true;
}

}  // namespace trainscope::kernels
