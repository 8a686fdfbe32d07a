// Where the values of a chain lie, and how they come from there into registers and back.
//
// Two kinds of kernels share this. One reads its chain's form (actions, types, registers, kinds of
// reads, counts) as it runs. The other was compiled for a form: its loops end where the chain's do,
// and its registers are the thread's own. Of the chain that is given to it, only addresses, sizes,
// draws and the pool are read.
#pragma once

#include "kernels/chain.h"
#include "kernels/pack.cuh"
#include "kernels/pool_gradients.cuh"

namespace trainscope::kernels {

struct ReadSteps {
  static constexpr bool kAreKnown = false;
  const Chain& chain;

  __device__ const Chain& form() const { return chain; }
};

template <const Chain& kForm>
struct KnownSteps {
  static constexpr bool kAreKnown = true;
  const Chain& chain;

  static constexpr __device__ const Chain& form() { return kForm; }
};

// Calls body(k) for each k from `begin` to before `end`: a copy of it for each where they are
// known.
template <typename Steps, typename Body>
__device__ __forceinline__ void for_each_of(int begin, int end, const Body& body) {
  if constexpr (Steps::kAreKnown) {
    TRAINSCOPE_UNROLLED
    for (int k = begin; k < end; ++k) body(k);
  } else {
    TRAINSCOPE_ONE_AT_A_TIME
    for (int k = begin; k < end; ++k) body(k);
  }
}

// Values that a thread carries at once.
template <int kWidth>
using ChainValues = Pack<float, kWidth>;

// Where they lie, `apart` from one another. Those from `count` on are the last again, so that there
// are always as many.
template <int kWidth>
struct ChainPlaces {
  std::size_t first = 0;
  std::size_t apart = 1;
  int count = kWidth;
  bool packed = false;  // all of them side by side, and aligned in what is read and written there

  __device__ std::size_t at(int k) const {
    return first + apart * static_cast<std::size_t>(k < count ? k : count - 1);
  }
};

// f(k) being value k.
template <int kWidth, typename Function>
__device__ __forceinline__ ChainValues<kWidth> chain_values(const Function& f) {
  ChainValues<kWidth> values;
  TRAINSCOPE_UNROLLED
  for (int k = 0; k < kWidth; ++k) values.values[k] = f(k);
  return values;
}

// Likewise, where f is long: compiled once, not for each value. Each has a register of its own, so
// none is found by its number.
template <int kWidth, typename Function>
__device__ __forceinline__ ChainValues<kWidth> long_chain_values(const ChainPlaces<kWidth>& at,
                                                                 const Function& f) {
  ChainValues<kWidth> values = {};
  TRAINSCOPE_ONE_AT_A_TIME
  for (int k = 0; k < at.count; ++k) {
    const float value = f(k);
    values = chain_values<kWidth>([&](int n) { return n < k ? values.values[n] : value; });
  }
  return values;
}

// Where value i lies in what is repeated, or in the row of a table.
inline __device__ std::size_t place_elsewhere(ChainFrom how, const ChainRead& from, std::size_t i) {
  const auto place = from.extent.split(i);
  if (how == ChainFrom::kRepeated) return place.rest;
  const std::int64_t row = static_cast<const std::int64_t*>(from.index)[place.quotient];
  if (row < 0 || row >= static_cast<std::int64_t>(from.rows)) __trap();
  return static_cast<std::size_t>(row) * from.extent.by() + place.rest;
}

template <typename T>
__device__ float load_value(const Chain& chain, ChainFrom how, const ChainRead& from,
                            std::size_t i) {
  const T* memory = static_cast<const T*>(from.memory);
  switch (how) {
    case ChainFrom::kEach:
      break;
    case ChainFrom::kSingle:
      return widen(memory[0]);
    case ChainFrom::kRepeated:
    case ChainFrom::kRowOf:
      return widen(memory[place_elsewhere(how, from, i)]);
    case ChainFrom::kMaxPool:
      return MaxPoolGradient<T>{chain.pool, memory,
                                static_cast<const std::int32_t*>(from.index)}(i);
    case ChainFrom::kAveragePool:
      return AveragePoolGradient<T>{chain.pool.input, memory}(i);
  }
  return widen(memory[i]);
}

inline __device__ float load_value(const Chain& chain, const ChainRead& form, const ChainRead& from,
                                   std::size_t i) {
  if (form.type == NumberType::kFp16) return load_value<Half>(chain, form.from, from, i);
  if (form.type == NumberType::kBf16) return load_value<Bfloat16>(chain, form.from, from, i);
  return load_value<float>(chain, form.from, from, i);
}

// From anywhere.
template <int kWidth>
__device__ TRAINSCOPE_OUT_OF_LINE void load_called(const Chain& chain, const ChainRead& read,
                                                   const ChainPlaces<kWidth>& at,
                                                   ChainValues<kWidth>& values) {
  values = long_chain_values(at, [&](int k) { return load_value(chain, read, read, at.at(k)); });
}

template <typename Steps, int kWidth>
__device__ __forceinline__ void load(const Steps& steps, int k, const ChainPlaces<kWidth>& at,
                                     ChainValues<kWidth>* registers) {
  const ChainRead& form = steps.form().reads[k];
  const ChainRead& from = steps.chain.reads[k];
  ChainValues<kWidth>& values = registers[form.place];
  const auto one = [&](int n) { return load_value(steps.chain, form, from, at.at(n)); };
  if constexpr (!Steps::kAreKnown) {
    load_called(steps.chain, from, at, values);
  } else if (form.from == ChainFrom::kMaxPool) {
    values = long_chain_values(at, one);
  } else {
    values = chain_values<kWidth>(one);
  }
}

// Values as they lie in memory, side by side, in any type: as whole words, from which values are
// shifted, since a pack's narrow values would be loaded in parts.
template <int kWidth>
struct ChainBytes {
  std::uint32_t words[kWidth];
};

template <typename T, int kWidth>
__device__ __forceinline__ void load_bytes(const ChainRead& read, std::size_t first,
                                           ChainBytes<kWidth>& bytes) {
  const T* from = static_cast<const T*>(read.memory) + first;
  require_aligned<Pack<T, kWidth>>(from);
  memcpy(&bytes, __builtin_assume_aligned(from, alignof(Pack<T, kWidth>)), sizeof(T) * kWidth);
}

// The value of which these are the bits.
template <typename T, typename Bits>
__device__ __forceinline__ float widened(Bits bits) {
  static_assert(sizeof(T) == sizeof(Bits));
  T value;
  memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return widen(value);
}

template <typename T, int kWidth>
__device__ __forceinline__ ChainValues<kWidth> values_of(const ChainBytes<kWidth>& bytes) {
  return chain_values<kWidth>([&](int k) {
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
      return widened<T>(bytes.words[k]);
    } else {
      const std::uint32_t two = bytes.words[k / 2];
      return widened<T>(static_cast<std::uint16_t>(k % 2 == 0 ? two : two >> 16U));
    }
  });
}

template <int kWidth>
__device__ __forceinline__ ChainValues<kWidth> values_of(NumberType type,
                                                         const ChainBytes<kWidth>& bytes) {
  if (type == NumberType::kFp16) return values_of<Half>(bytes);
  if (type == NumberType::kBf16) return values_of<Bfloat16>(bytes);
  return values_of<float>(bytes);
}

// Whether the values lie side by side in what is read as well.
template <int kWidth>
__device__ __forceinline__ bool is_packed(const ChainRead& form, const ChainPlaces<kWidth>& at) {
  return at.packed && (form.from == ChainFrom::kEach || form.in_eights);
}

template <int kWidth>
__device__ __forceinline__ ChainBytes<kWidth> load_bytes(const ChainRead& form,
                                                         const ChainRead& from, std::size_t i) {
  const std::size_t first = form.from == ChainFrom::kEach ? i : place_elsewhere(form.from, from, i);
  ChainBytes<kWidth> bytes = {};
  if (form.type == NumberType::kFp32) {
    load_bytes<float>(from, first, bytes);
  } else {
    load_bytes<Half>(from, first, bytes);
  }
  return bytes;
}

// Loads that a thread has under way at once.
template <typename Steps>
inline constexpr int kChainLoads = Steps::kAreKnown ? kMostChainOperands : 2;

template <typename Steps, int kWidth>
__device__ __forceinline__ void load_packed(const Steps& steps, int begin,
                                            const ChainPlaces<kWidth>& at,
                                            ChainValues<kWidth>* registers) {
  const Chain& form = steps.form();
  ChainBytes<kWidth> bytes[kChainLoads<Steps>];
  TRAINSCOPE_UNROLLED
  for (int n = 0; n < kChainLoads<Steps>; ++n) {
    const int k = begin + n;
    if (k < form.read_count && is_packed(form.reads[k], at))
      bytes[n] = load_bytes<kWidth>(form.reads[k], steps.chain.reads[k], at.first);
  }
  TRAINSCOPE_UNROLLED
  for (int n = 0; n < kChainLoads<Steps>; ++n) {
    const int k = begin + n;
    if (k < form.read_count && is_packed(form.reads[k], at))
      registers[form.reads[k].place] = values_of(form.reads[k].type, bytes[n]);
  }
}

template <typename Steps, int kWidth>
__device__ __forceinline__ void load_all(const Steps& steps, const ChainPlaces<kWidth>& at,
                                         ChainValues<kWidth>* registers) {
  const Chain& form = steps.form();
  if constexpr (Steps::kAreKnown) {
    load_packed(steps, 0, at, registers);
  } else {
    for (int k = 0; k < form.read_count; k += kChainLoads<Steps>)
      load_packed(steps, k, at, registers);
  }
  for_each_of<Steps>(0, form.read_count, [&](int k) {
    if (!is_packed(form.reads[k], at)) load(steps, k, at, registers);
  });
}

template <int kWidth, typename T>
__device__ __forceinline__ void store(T* memory, const ChainPlaces<kWidth>& at,
                                      const ChainValues<kWidth>& values) {
  Pack<T, kWidth> pack;
  TRAINSCOPE_UNROLLED
  for (int k = 0; k < kWidth; ++k) pack.values[k] = narrow<T>(values.values[k]);
  if (at.packed) return store_pack(memory + at.first, pack);
  TRAINSCOPE_UNROLLED
  for (int k = 0; k < kWidth; ++k) memory[at.at(k)] = pack.values[k];
}

template <int kWidth>
__device__ __forceinline__ void store(NumberType type, void* memory, const ChainPlaces<kWidth>& at,
                                      const ChainValues<kWidth>& values) {
  if (type == NumberType::kFp16) return store(static_cast<Half*>(memory), at, values);
  if (type == NumberType::kBf16) return store(static_cast<Bfloat16*>(memory), at, values);
  store(static_cast<float*>(memory), at, values);
}

template <typename Steps, int kWidth>
__device__ __forceinline__ void store_all(const Steps& steps, const ChainPlaces<kWidth>& at,
                                          const ChainValues<kWidth>* registers) {
  const Chain& form = steps.form();
  for_each_of<Steps>(0, form.write_count, [&](int k) {
    const ChainWrite& write = form.writes[k];
    store(write.type, steps.chain.writes[k].memory, at, registers[write.place]);
  });
}

inline bool is_chain_aligned(const void* memory, NumberType type, std::size_t width) {
  const std::size_t bytes = width * (type == NumberType::kFp32 ? sizeof(float) : sizeof(Half));
  return is_aligned(memory, bytes < kPackBytes ? bytes : kPackBytes);
}

// Values that lie side by side may be read and written `width` at once, where the first is a
// multiple of it.
inline bool is_packed(const Chain& chain, int width) {
  const auto aligned = [&](const void* memory, NumberType type) {
    return is_chain_aligned(memory, type, static_cast<std::size_t>(width));
  };
  for (int k = 0; k < chain.read_count; ++k) {
    const ChainRead& read = chain.reads[k];
    if ((read.from == ChainFrom::kEach || read.in_eights) && !aligned(read.memory, read.type))
      return false;
  }
  for (int k = 0; k < chain.write_count; ++k)
    if (!aligned(chain.writes[k].memory, chain.writes[k].type)) return false;
  return true;
}

}  // namespace trainscope::kernels
