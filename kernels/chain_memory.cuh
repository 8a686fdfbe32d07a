// Where the values of a chain lie, and how they come from there into registers and back.
#pragma once

#include "kernels/chain_form.cuh"
#include "kernels/pack.cuh"
#include "kernels/pool_gradients.cuh"

namespace trainscope::kernels {

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

template <ChainFrom kFrom, typename T>
__device__ __forceinline__ float load_from(const Chain& chain, const ChainRead& from,
                                           std::size_t i) {
  const T* memory = static_cast<const T*>(from.memory);
  if constexpr (kFrom == ChainFrom::kSingle) {
    return widen(memory[0]);
  } else if constexpr (kFrom == ChainFrom::kRepeated || kFrom == ChainFrom::kRowOf) {
    return widen(memory[place_elsewhere(kFrom, from, i)]);
  } else if constexpr (kFrom == ChainFrom::kMaxPool) {
    const auto* chosen = static_cast<const std::int32_t*>(from.index);
    return MaxPoolGradient<T>{chain.pool, memory, chosen}(i);
  } else if constexpr (kFrom == ChainFrom::kAveragePool) {
    return AveragePoolGradient<T>{chain.pool.input, memory}(i);
  } else {
    return widen(memory[i]);
  }
}

template <typename T, typename From>
__device__ __forceinline__ float load_value(const Chain& chain, From how, const ChainRead& from,
                                            std::size_t i) {
  if constexpr (kIsKnown<From>) {
    return load_from<From::kIs, T>(chain, from, i);
  } else {
    switch (how) {
      case ChainFrom::kSingle:
        return load_from<ChainFrom::kSingle, T>(chain, from, i);
      case ChainFrom::kRepeated:
        return load_from<ChainFrom::kRepeated, T>(chain, from, i);
      case ChainFrom::kRowOf:
        return load_from<ChainFrom::kRowOf, T>(chain, from, i);
      case ChainFrom::kMaxPool:
        return load_from<ChainFrom::kMaxPool, T>(chain, from, i);
      case ChainFrom::kAveragePool:
        return load_from<ChainFrom::kAveragePool, T>(chain, from, i);
      default:
        return load_from<ChainFrom::kEach, T>(chain, from, i);
    }
  }
}

// From anywhere.
template <int kWidth>
__device__ TRAINSCOPE_OUT_OF_LINE void load_called(const Chain& chain, const ChainRead& read,
                                                   const ChainPlaces<kWidth>& at,
                                                   ChainValues<kWidth>& values) {
  values = long_chain_values(at, [&](int n) {
    return with_number(read.type, [&](auto number) {
      return load_value<decltype(number)>(chain, read.from, read, at.at(n));
    });
  });
}

template <typename Steps, typename K, int kWidth>
__device__ __forceinline__ void load(const Steps& steps, K k, const ChainPlaces<kWidth>& at,
                                     ChainValues<kWidth>* registers) {
  const ChainRead& from = steps.chain.reads[k];
  ChainValues<kWidth>& values = registers[steps.read_place(k)];
  if constexpr (!Steps::kAreKnown) {
    load_called(steps.chain, from, at, values);
  } else {
    const auto how = steps.read_from(k);
    const auto one = [&](int n) {
      return with_number(steps.read_type(k), [&](auto number) {
        return load_value<decltype(number)>(steps.chain, how, from, at.at(n));
      });
    };
    if constexpr (decltype(how)::kIs == ChainFrom::kMaxPool) {
      values = long_chain_values(at, one);
    } else {
      values = chain_values<kWidth>(one);
    }
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

// Whether the values lie side by side in what is read as well.
template <typename Steps, typename K, int kWidth>
__device__ __forceinline__ bool is_packed(const Steps& steps, K k, const ChainPlaces<kWidth>& at) {
  return at.packed && (steps.read_from(k) == ChainFrom::kEach || steps.in_eights(k));
}

template <int kWidth, typename Steps, typename K>
__device__ __forceinline__ ChainBytes<kWidth> load_bytes(const Steps& steps, K k, std::size_t i) {
  const ChainRead& from = steps.chain.reads[k];
  const ChainFrom how = steps.read_from(k);
  const std::size_t first = how == ChainFrom::kEach ? i : place_elsewhere(how, from, i);
  ChainBytes<kWidth> bytes = {};
  with_number(steps.read_type(k),
              [&](auto number) { load_bytes<decltype(number)>(from, first, bytes); });
  return bytes;
}

// kCount reads from `begin` on, all under way at once.
template <int kCount, typename Steps, typename Begin, int kWidth>
__device__ __forceinline__ void load_packed(const Steps& steps, Begin begin,
                                            const ChainPlaces<kWidth>& at,
                                            ChainValues<kWidth>* registers) {
  ChainBytes<kWidth> bytes[kCount];
  const auto each = [&](const auto& body) {
    for_each(Known<0>{}, Known<kCount>{}, [&](auto n) {
      if constexpr (kIsKnown<Begin>) {
        if (is_packed(steps, n, at)) body(n, n);
      } else {
        const int k = begin + n;
        if (k < steps.reads() && is_packed(steps, k, at)) body(n, k);
      }
    });
  };
  each([&](int n, auto k) { bytes[n] = load_bytes<kWidth>(steps, k, at.first); });
  each([&](int n, auto k) {
    registers[steps.read_place(k)] = with_number(
        steps.read_type(k), [&](auto number) { return values_of<decltype(number)>(bytes[n]); });
  });
}

template <typename Steps, int kWidth>
__device__ __forceinline__ void load_all(const Steps& steps, const ChainPlaces<kWidth>& at,
                                         ChainValues<kWidth>* registers) {
  if constexpr (!Steps::kAreKnown) {
    constexpr int kAtOnce = 2;
    for (int k = 0; k < steps.reads(); k += kAtOnce) load_packed<kAtOnce>(steps, k, at, registers);
  } else if constexpr (Steps::reads() > 0) {
    load_packed<Steps::reads()>(steps, Known<0>{}, at, registers);
  }
  for_each(Known<0>{}, steps.reads(), [&](auto k) {
    if (!is_packed(steps, k, at)) load(steps, k, at, registers);
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

template <typename Steps, int kWidth>
__device__ __forceinline__ void store_all(const Steps& steps, const ChainPlaces<kWidth>& at,
                                          const ChainValues<kWidth>* registers) {
  for_each(Known<0>{}, steps.writes(), [&](auto k) {
    with_number(steps.write_type(k), [&](auto number) {
      auto* memory = static_cast<decltype(number)*>(steps.chain.writes[k].memory);
      store(memory, at, registers[steps.write_place(k)]);
    });
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
