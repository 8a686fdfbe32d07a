#include "host/float_types.h"

#include <cassert>
#include <cstddef>

#if defined(__x86_64__) && defined(__GNUC__)
#define TRAINSCOPE_F16C 1
#include <immintrin.h>
#endif

namespace trainscope::host {
namespace {

// Both walk eight values at a time and return how many they did. The hardware sets the quiet bit of
// a NaN, which would change its bits, so groups with one in them go the plain way.
#ifdef TRAINSCOPE_F16C
__attribute__((target("avx,f16c"))) std::size_t groups_to_float16(std::span<const float> from,
                                                                  std::span<Float16> to) {
  std::size_t i = 0;
  for (; i + 8 <= from.size(); i += 8) {
    const __m256 values = _mm256_loadu_ps(&from[i]);
    if (_mm256_movemask_ps(_mm256_cmp_ps(values, values, _CMP_UNORD_Q)) != 0) {
      for (std::size_t k = i; k < i + 8; ++k) to[k] = to_float16(from[k]);
      continue;
    }
    const __m128i halves = _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&to[i]), halves);
  }
  return i;
}

__attribute__((target("avx,f16c"))) std::size_t groups_to_float(std::span<const Float16> from,
                                                                std::span<float> to) {
  const __m128i exponent = _mm_set1_epi16(0x7c00);
  std::size_t i = 0;
  for (; i + 8 <= from.size(); i += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&from[i]));
    if (_mm_movemask_epi8(_mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent)) != 0) {
      for (std::size_t k = i; k < i + 8; ++k) to[k] = to_float(from[k]);
      continue;
    }
    _mm256_storeu_ps(&to[i], _mm256_cvtph_ps(halves));
  }
  return i;
}
#endif

}  // namespace

bool has_f16c() {
#ifdef TRAINSCOPE_F16C
  return __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

void convert(std::span<const float> from, std::span<Float16> to) {
  assert(from.size() == to.size());
  std::size_t i = 0;
#ifdef TRAINSCOPE_F16C
  if (has_f16c()) i = groups_to_float16(from, to);
#endif
  for (; i < from.size(); ++i) to[i] = to_float16(from[i]);
}

void convert(std::span<const Float16> from, std::span<float> to) {
  assert(from.size() == to.size());
  std::size_t i = 0;
#ifdef TRAINSCOPE_F16C
  if (has_f16c()) i = groups_to_float(from, to);
#endif
  for (; i < from.size(); ++i) to[i] = to_float(from[i]);
}

void convert(std::span<const float> from, std::span<Bfloat16> to) {
  assert(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_bfloat16(from[i]);
}

void convert(std::span<const Bfloat16> from, std::span<float> to) {
  assert(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = to_float(from[i]);
}

}  // namespace trainscope::host
