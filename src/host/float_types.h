// FP16 and BF16 as they are stored, and TF32 as tensor cores read it: exact conversions.
//
// FP16: 1 sign, 5 exponent, 10 mantissa bits (IEEE 754 binary16). BF16: 1, 8, 7: the upper half of
// an FP32. TF32: 1, 8, 10, kept in an FP32 whose lower 13 bits are zero. Every conversion to a
// narrower type rounds to nearest, ties to even, overflows to infinity and underflows through
// subnormals to zero, as IEEE 754 has it. A NaN stays a NaN with the upper bits of its payload.
// Every FP16 and BF16 value is an FP32 value, so the way up is exact, and up and down again gives
// the same bits.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace trainscope::host {

struct Float16 {
  std::uint16_t bits = 0;
};

struct Bfloat16 {
  std::uint16_t bits = 0;
};

namespace detail {

inline constexpr std::uint32_t kMagnitude = 0x7fffffff;
inline constexpr std::uint32_t kInfinity = 0x7f800000;

// Drops the lower `count` bits, to nearest, ties to even; a carry runs on into the exponent, which
// is what rounding up to the next power of two, or to infinity, means.
constexpr std::uint32_t round_off(std::uint32_t bits, int count) {
  const std::uint32_t half = (std::uint32_t{1} << (count - 1)) - 1;
  return (bits + half + ((bits >> count) & 1)) >> count;
}

}  // namespace detail

constexpr float to_float(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000U) << 16;
  const std::uint32_t exponent = (value.bits >> 10) & 0x1fU;
  const std::uint32_t mantissa = value.bits & 0x3ffU;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | detail::kInfinity | (mantissa << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

constexpr float to_float(Bfloat16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

constexpr Float16 to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & detail::kMagnitude;
  const auto with_sign = [sign](std::uint32_t rest) {
    return Float16{static_cast<std::uint16_t>(sign | rest)};
  };
  if (magnitude > detail::kInfinity) {
    const std::uint32_t payload = (magnitude >> 13) & 0x3ffU;
    return with_sign(0x7c00U | (payload == 0 ? 0x200U : payload));
  }
  // 65520 lies half way between the largest value, 65504, and what would be the next, 65536.
  if (magnitude >= std::bit_cast<std::uint32_t>(65520.0F)) return with_sign(0x7c00U);
  if (magnitude >= std::bit_cast<std::uint32_t>(0x1p-14F)) {
    return with_sign(detail::round_off(magnitude - (112U << 23), 13));
  }
  // Below the normal values a step is 2^-24, which is what an FP32 in [0.5, 1) has: the addition
  // rounds.
  const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
  return with_sign(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(0.5F));
}

constexpr Bfloat16 to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & detail::kMagnitude) > detail::kInfinity) {
    const std::uint32_t upper = bits >> 16;
    return {static_cast<std::uint16_t>((upper & 0x7fU) == 0 ? upper | 0x40U : upper)};
  }
  return {static_cast<std::uint16_t>(detail::round_off(bits, 16))};
}

// The nearest TF32 value. (The GPU's cvt.rna ties away from zero instead; they differ on ties
// alone.)
constexpr float round_to_tf32(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & detail::kMagnitude) > detail::kInfinity) {
    const std::uint32_t upper = bits & ~std::uint32_t{0x1fff};
    return std::bit_cast<float>((upper & 0x7fffffU) == 0 ? upper | 0x400000U : upper);
  }
  return std::bit_cast<float>(detail::round_off(bits, 13) << 13);
}

// Whole spans of equal length, the same bits as the functions above; FP16 eight at a time where the
// processor has F16C.
void convert(std::span<const float> from, std::span<Float16> to);
void convert(std::span<const Float16> from, std::span<float> to);
void convert(std::span<const float> from, std::span<Bfloat16> to);
void convert(std::span<const Bfloat16> from, std::span<float> to);

// Whether this processor and build convert FP16 in hardware.
bool has_f16c();

}  // namespace trainscope::host
