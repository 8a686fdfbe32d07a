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

template <typename T, int kCount>
__device__ void store_pack(T* to, const Pack<T, kCount>& pack) {
  require_aligned<Pack<T, kCount>>(to);
  *reinterpret_cast<Pack<T, kCount>*>(to) = pack;
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
  const std::size_t tail = packs * kPack;
  for (std::size_t item = first; item < packs + count - tail; item += step) {
    if (item < packs) {
      body(Width<kPack>{}, item * kPack);
    } else {
      body(Width<1>{}, tail + (item - packs));
    }
  }
}

}  // namespace trainscope::kernels
