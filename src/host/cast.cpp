#include "host/cast.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#include "host/float_types.h"

namespace trainscope::host {
namespace {

// Through storage of the type itself, a block at a time, so that FP16 takes the hardware's way.
template <typename Type>
void cast_through(Values from, Results to) {
  constexpr std::size_t kBlock = 512;
  std::array<Type, kBlock> stored;
  for (std::size_t begin = 0; begin < from.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, from.size() - begin);
    const std::span<Type> block{stored.data(), count};
    convert(from.subspan(begin, count), block);
    convert(std::span<const Type>(block), to.subspan(begin, count));
  }
}

// The least normal magnitude: 2^-14 with FP16's five bits of exponent, 2^-126 with eight.
float least_normal(NumberFormat format) {
  return format == NumberFormat::kFloat16 ? 0x1p-14F : 0x1p-126F;
}

void cast_range(NumberFormat format, Values from, Results to) {
  switch (format) {
    case NumberFormat::kFloat32:
      if (from.data() != to.data()) std::copy(from.begin(), from.end(), to.begin());
      return;
    case NumberFormat::kTf32:
      for (std::size_t i = 0; i < from.size(); ++i) to[i] = round_to_tf32(from[i]);
      return;
    case NumberFormat::kFloat16:
      return cast_through<Float16>(from, to);
    case NumberFormat::kBfloat16:
      return cast_through<Bfloat16>(from, to);
  }
}

}  // namespace

void cast(NumberFormat format, Values from, Results to, const Workers& workers) {
  assert(from.size() == to.size());
  workers.for_ranges(from.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    cast_range(format, from.subspan(begin, end - begin), to.subspan(begin, end - begin));
  });
}

float rounded(NumberFormat format, float value) {
  cast(format, Results(&value, 1));
  return value;
}

NumberFormat format_of(program::ElementType type) {
  switch (type) {
    case program::ElementType::kFp16:
      return NumberFormat::kFloat16;
    case program::ElementType::kBf16:
      return NumberFormat::kBfloat16;
    default:
      return NumberFormat::kFloat32;
  }
}

CastLosses cast_losses(NumberFormat format, Values values) {
  CastLosses losses;
  constexpr std::size_t kBlock = 512;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float normal = least_normal(format);
  std::array<float, kBlock> rounded;
  for (std::size_t begin = 0; begin < values.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - begin);
    cast(format, values.subspan(begin, count), Results(rounded.data(), count));
    int to_zero = 0, to_subnormal = 0, to_infinity = 0;
    for (std::size_t i = 0; i < count; ++i) {  // without branches, so that it runs in vectors
      const float was = std::abs(values[begin + i]), is = std::abs(rounded[i]);
      const int counts = static_cast<int>(was > 0) & static_cast<int>(was < kInfinity);
      const int zero = static_cast<int>(is == 0);
      to_zero += counts & zero;
      to_subnormal += counts & ~zero & static_cast<int>(is < normal);
      to_infinity += counts & static_cast<int>(is == kInfinity);
    }
    losses.to_zero += to_zero;
    losses.to_subnormal += to_subnormal;
    losses.to_infinity += to_infinity;
  }
  return losses;
}

}  // namespace trainscope::host
