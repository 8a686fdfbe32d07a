// Values of any of our types as FP32, and 16 bytes of them at a time.
//
// A device moves memory best in accesses of 16 bytes a thread (CUDA C++ Best Practices Guide,
// "Coalesced Access to Global Memory"); those must lie on a multiple of 16. What does not is walked
// value by value.
#pragma once

#include <algorithm>

#include "kernels/device.h"

namespace trainscope::kernels {

inline constexpr std::size_t kPackBytes = 16;

inline __device__ float widen(float value) {
  return value;
}
inline __device__ float widen(Half value) {
  return __half2float(value);
}
inline __device__ float widen(Bfloat16 value) {
  return __bfloat162float(value);
}

// To nearest, ties to even.
template <typename T>
__device__ T narrow(float value);
template <>
inline __device__ float narrow<float>(float value) {
  return value;
}
template <>
inline __device__ Half narrow<Half>(float value) {
  return __float2half_rn(value);
}
template <>
inline __device__ Bfloat16 narrow<Bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

template <typename T, int kCount>
struct alignas(sizeof(T) * kCount < kPackBytes ? sizeof(T) * kCount : kPackBytes) Pack {
  T values[kCount];
};

// How many values a thread takes at once where arrays of these types are walked together: 16 bytes
// of the narrowest.
template <typename... T>
inline constexpr int kPackOf = static_cast<int>(std::max({kPackBytes / sizeof(T)...}));

inline __host__ __device__ bool is_aligned(const void* address, std::size_t bytes = kPackBytes) {
  return reinterpret_cast<std::uintptr_t>(address) % bytes == 0;
}

template <typename P>
inline __device__ void require_aligned([[maybe_unused]] const void* address) {
#ifdef TRAINSCOPE_EMULATED
  if (is_aligned(address, alignof(P))) return;
  emulator::fail("an access to several values at once that is not aligned",
                 emulator::Source::current());
#endif
}

template <int kCount, typename T>
__device__ Pack<T, kCount> load_pack(const T* from) {
  require_aligned<Pack<T, kCount>>(from);
  return *reinterpret_cast<const Pack<T, kCount>*>(from);
}

#ifdef TRAINSCOPE_EMULATED

template <typename P>
void store_whole(void* to, const P& pack) {
  std::memcpy(to, static_cast<const void*>(&pack), sizeof(P));
}

#else

// By 16 or 8 bytes: a pack that is assigned is stored so by the compiler, or value by value, as it
// finds.
template <typename P>
__device__ __forceinline__ void store_whole(void* to, const P& pack) {
  constexpr int kWords = static_cast<int>(sizeof(P) / sizeof(std::uint32_t));
  std::uint32_t words[kWords];
  memcpy(words, static_cast<const void*>(&pack), sizeof(P));
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_global(to));
  if constexpr (kWords == 2) {
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(address), "r"(words[0]), "r"(words[1])
                 : "memory");
  } else {
    TRAINSCOPE_UNROLLED
    for (int k = 0; k < kWords; k += 4) {
      asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(address + k * sizeof(words[0])),
                   "r"(words[k]), "r"(words[k + 1]), "r"(words[k + 2]), "r"(words[k + 3])
                   : "memory");
    }
  }
}

#endif

template <typename T, int kCount>
__device__ void store_pack(T* to, const Pack<T, kCount>& pack) {
  require_aligned<Pack<T, kCount>>(to);
  if constexpr (sizeof(pack) <= sizeof(std::uint32_t)) {
    *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
  } else {
    store_whole(to, pack);
  }
}

// Calls body(i, values...) with the FP32 values at `first` + k of each array, k < kCount.
template <int kCount, typename Body, typename... T>
__device__ void with_packs(std::size_t first, const Body& body, const T*... arrays) {
  const auto each = [&](const Pack<T, kCount>&... packs) {
    for (int k = 0; k < kCount; ++k) {
      body(first + static_cast<std::size_t>(k), widen(packs.values[k])...);
    }
  };
  each(load_pack<kCount>(arrays + first)...);
}

// out[i] = f(i, values...) likewise. `out` may be one of the arrays.
template <int kCount, typename Function, typename Out, typename... T>
__device__ void map_pack(std::size_t first, const Function& f, Out* out, const T*... arrays) {
  Pack<Out, kCount> results;
  const auto keep = [&](std::size_t i, auto... values) {
    results.values[i - first] = narrow<Out>(f(i, values...));
  };
  with_packs<kCount>(first, keep, arrays...);
  store_pack(out + first, results);
}

// Deals items to threads: packs of kPack values while there are, then single values. Calls
// body(width, i), `width` being Width<kPack> or Width<1>, for the values from i on.
template <int kCount>
struct Width {
  static constexpr int kValues = kCount;
};

template <int kPack, typename Body>
__device__ void for_items(std::size_t first, std::size_t step, std::size_t count, std::size_t packs,
                          const Body& body) {
  const std::size_t tail = packs * kPack, items = packs + count - tail;
  std::size_t item = first;
  for (; item < packs; item += step) body(Width<kPack>{}, item * kPack);
  for (; item < items; item += step) body(Width<1>{}, tail + (item - packs));
}

// Packs of a thread that are loaded before the first of them is used, so that all are under way at
// once: `apart` values from one another, those that begin before `end`.
struct Flight {
  std::size_t first;
  std::size_t apart;
  std::size_t end;

  __device__ std::size_t at(int n) const { return first + static_cast<std::size_t>(n) * apart; }
  __device__ bool has(int n) const { return at(n) < end; }
};

template <typename T, int kCount, int kPacks>
struct Loaded {
  Pack<T, kCount> packs[kPacks] = {};
};

template <int kCount, int kPacks, typename T>
__device__ Loaded<T, kCount, kPacks> load_flight(const T* from, const Flight& flight) {
  Loaded<T, kCount, kPacks> loaded;
  TRAINSCOPE_UNROLLED
  for (int n = 0; n < kPacks; ++n) {
    if (flight.has(n)) loaded.packs[n] = load_pack<kCount>(from + flight.at(n));
  }
  return loaded;
}

// Calls body(i, loaded...) for each pack of the flight: where it begins, and its values.
template <int kCount, int kPacks, typename Body, typename... T>
__device__ void with_flight(const Flight& flight, const Body& body, const T*... arrays) {
  const auto each = [&](const Loaded<T, kCount, kPacks>&... loaded) {
    TRAINSCOPE_UNROLLED
    for (int n = 0; n < kPacks; ++n) {
      if (flight.has(n)) body(flight.at(n), loaded.packs[n]...);
    }
  };
  each(load_flight<kCount, kPacks>(arrays, flight)...);
}

// out[i] = f(i, values...) likewise. `out` may be one of the arrays.
template <int kCount, int kPacks, typename Function, typename Out, typename... In>
__device__ void map_flight(const Flight& flight, const Function& f, Out* out, const In*... in) {
  const auto each = [&](std::size_t begin, const auto&... packs) {
    Pack<Out, kCount> results;
    for (int k = 0; k < kCount; ++k) {
      const std::size_t i = begin + static_cast<std::size_t>(k);
      results.values[k] = narrow<Out>(f(i, widen(packs.values[k])...));
    }
    store_pack(out + begin, results);
  };
  with_flight<kCount, kPacks>(flight, each, in...);
}

// As for_items, in the same order: calls body(width, flight), kPacks items at a time.
template <int kPack, int kPacks, typename Body>
__device__ void for_flights(std::size_t first, std::size_t step, std::size_t count,
                            std::size_t packs, const Body& body) {
  const std::size_t tail = packs * kPack, items = packs + count - tail;
  std::size_t item = first;
  const auto move_on = [&](std::size_t end) {
    for (int n = 0; n < kPacks && item < end; ++n) item += step;
  };
  for (; item < packs; move_on(packs))
    body(Width<kPack>{}, Flight{item * kPack, step * kPack, tail});
  for (; item < items; move_on(items)) body(Width<1>{}, Flight{tail + (item - packs), step, count});
}

}  // namespace trainscope::kernels
