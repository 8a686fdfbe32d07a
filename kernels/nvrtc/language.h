// The part of C++'s library that kernels use, for code that is compiled while the program runs:
// NVRTC knows CUDA's own names and has no headers. Stands in for <algorithm>, <cmath>, <cstddef>,
// <cstdint>, <tuple>, <utility>, cuda_fp16.h and cuda_bf16.h; what is not here a kernel that a
// chain is compiled from may not use.
#pragma once

namespace std {

using size_t = decltype(sizeof(0));
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long;
using uintptr_t = unsigned long;

template <typename T>
constexpr const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
template <typename T>
constexpr const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <typename T>
constexpr const T& clamp(const T& value, const T& least, const T& most) {
  return value < least ? least : most < value ? most : value;
}
template <typename T, size_t kCount>
constexpr T max(const T (&values)[kCount]) {
  T largest = values[0];
  for (const T& value : values) largest = max(largest, value);
  return largest;
}

}  // namespace std

#define INFINITY __builtin_bit_cast(float, 0x7f800000)

static_assert(sizeof(std::size_t) == 8 && sizeof(std::uint64_t) == 8);

struct __half {
  unsigned short bits;
};
struct __nv_bfloat16 {
  unsigned short bits;
};

inline __device__ float __half2float(__half value) {
  float wide;
  asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(value.bits));
  return wide;
}
inline __device__ __half __float2half_rn(float value) {
  __half narrow;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
  return narrow;
}
inline __device__ float __bfloat162float(__nv_bfloat16 value) {
  return __uint_as_float(unsigned{value.bits} << 16U);
}

// Devices before compute capability 8.0 have no instruction for it.
inline __device__ __nv_bfloat16 __float2bfloat16_rn(float value) {
  __nv_bfloat16 narrow;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow.bits) : "f"(value));
#else
  const unsigned bits = __float_as_uint(value);
  const unsigned rounded = bits + 0x7fffU + ((bits >> 16U) & 1U);
  narrow.bits = static_cast<unsigned short>(value != value ? 0x7fffU : rounded >> 16U);
#endif
  return narrow;
}
