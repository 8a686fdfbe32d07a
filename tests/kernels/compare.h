// Numbers for kernels, in the three types, and how far results may be from the CPU reference.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "kernels/device.h"

namespace trainscope::test {

using kernels::Bfloat16;
using kernels::Half;
using kernels::Stream;

// Seeds of the order in which threads run: of their indices, and two others.
inline constexpr std::array<Stream, 3> kOrders = {Stream{0}, Stream{1}, Stream{2}};

// None, one, what no vector width divides, what all do, more than a block.
inline constexpr std::array<std::size_t, 8> kCounts = {0, 1, 3, 7, 8, 64, 1000, 4099};

// A wavy mixture of magnitudes with both signs; roughly normal (the sum of four uniform numbers).
inline std::vector<float> numbers(std::size_t count, std::uint64_t seed, float deviation = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const PhiloxCounter block = random_block(seed, i);
    float sum = -2;
    for (const std::uint32_t word : block.words) sum += unit_float(word);
    values[i] = deviation * sum * 1.7320508F;
  }
  return values;
}

inline float as_float(float value) {
  return value;
}
inline float as_float(Half value) {
  return to_float(value);
}
inline float as_float(Bfloat16 value) {
  return to_float(value);
}

template <typename T>
T as(float value);
template <>
inline float as<float>(float value) {
  return value;
}
template <>
inline Half as<Half>(float value) {
  return host::to_float16(value);
}
template <>
inline Bfloat16 as<Bfloat16>(float value) {
  return host::to_bfloat16(value);
}

template <typename T>
std::vector<T> rounded(const std::vector<float>& values) {
  std::vector<T> results;
  for (const float value : values) results.push_back(as<T>(value));
  return results;
}

template <typename T>
std::vector<float> floats(const std::vector<T>& values) {
  std::vector<float> results;
  for (const T value : values) results.push_back(as_float(value));
  return results;
}

// What values become when a kernel of this type reads them.
template <typename T>
std::vector<float> as_read(const std::vector<float>& values) {
  return floats(rounded<T>(values));
}

// Half of the distance from 1 to the next value: what one rounding may do to a value of order 1.
template <typename T>
inline constexpr double kRounding = 0x1p-24;
template <>
inline constexpr double kRounding<Half> = 0x1p-11;
template <>
inline constexpr double kRounding<Bfloat16> = 0x1p-8;

// What values are measured against where a sum cancels: their root mean square.
inline double root_mean_square(const std::vector<float>& values) {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * value;
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

// Each result of type T is the expected value, computed in FP32, but for `units` of FP32's rounding
// and one of T's, both of the larger of the value and the root mean square of all.
template <typename T>
void check_near(const std::vector<T>& found, const std::vector<float>& expected, double units) {
  REQUIRE(found.size() == expected.size());
  const double typical = root_mean_square(expected);
  double worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double want = expected[i];
    const double size = std::max(std::abs(want), typical);
    const double own = sizeof(T) < sizeof(float) ? 1.01 * kRounding<T> : 0;
    const double allowed = (2 * units * kRounding<float> + own) * size;
    const double distance = std::abs(as_float(found[i]) - want);
    if (!(distance <= allowed)) {
      INFO("value " << i << " of " << found.size() << " is " << as_float(found[i]) << ", not "
                    << want << " within " << allowed);
      CHECK(false);
      return;
    }
    worst = std::max(worst, allowed == 0 ? 0 : distance / allowed);
  }
  CHECK(worst <= 1);
}

// The same bits; -0 is not 0, a NaN is itself.
template <typename T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

}  // namespace trainscope::test
