#include "host/float_types.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"

using namespace trainscope;
using namespace trainscope::host;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Float16 narrow(float value, Float16) {
  return to_float16(value);
}
Bfloat16 narrow(float value, Bfloat16) {
  return to_bfloat16(value);
}

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

template <typename Type>
std::uint16_t infinity_bits() {
  return narrow(kInf, Type{}).bits;
}

// All 65,536 values; the first that does not come back the same, or 65,536.
template <typename Type>
int first_not_kept() {
  for (int i = 0; i < 65536; ++i) {
    const Type value{static_cast<std::uint16_t>(i)};
    if (narrow(to_float(value), Type{}).bits != value.bits) return i;
  }
  return 65536;
}

// The value half way between two neighbours of one sign, exactly: their sum fits an FP64, and half
// of it an FP32, but for FP16's and BF16's last step to infinity, whose end is 2^16 and 2^128.
template <typename Type>
double above(std::uint16_t bits) {
  if (bits != infinity_bits<Type>()) return to_float(Type{bits});
  const double last = to_float(Type{static_cast<std::uint16_t>(bits - 1)});
  const double before = to_float(Type{static_cast<std::uint16_t>(bits - 2)});
  return last + (last - before);
}

// Checks the midpoint above each finite value, and the FP32 values just below and above it, with
// both signs. Returns the number of values looked at.
template <typename Type>
int check_midpoints() {
  int wrong = 0;
  int count = 0;
  const auto expect = [&](float value, int bits) {
    wrong += narrow(value, Type{}).bits != bits ? 1 : 0;
    wrong += narrow(-value, Type{}).bits != (bits | 0x8000) ? 1 : 0;
  };
  for (std::uint16_t low = 0; low < infinity_bits<Type>(); ++low, ++count) {
    const int high = low + 1;
    const double exact = (to_float(Type{low}) + above<Type>(static_cast<std::uint16_t>(high))) / 2;
    const auto middle = static_cast<float>(exact);
    if (middle != exact) ++wrong;
    expect(middle, low % 2 == 0 ? low : high);
    expect(std::nextafter(middle, 0.0F), low);
    expect(std::nextafter(middle, kInf), high);
  }
  CHECK(wrong == 0);
  return count;
}

// Random bit patterns, so all magnitudes, infinities and NaNs, and the edges of FP16's range.
std::vector<float> many_floats() {
  std::vector<float> values = {
      0.0F,     -0.0F,    kInf,       -kInf,           65504.0F, 65519.996F,   65520.0F,
      0x1p-24F, 0x1p-25F, 0x1.8p-25F, 0x1.000002p-25F, 0x1p-14F, -0x1.ffcp-15F};
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    values.push_back(std::bit_cast<float>(random_word(3, i)));
    const float near = unit_float(random_word(4, i)) * 2 - 1;
    values.push_back(std::ldexp(near, static_cast<int>(random_word(5, i) % 44) - 26));
  }
  return values;
}

template <typename Type>
void check_spans() {
  const std::vector<float> values = many_floats();
  std::vector<Type> narrowed(values.size());
  convert(values, narrowed);
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (narrowed[i].bits != narrow(values[i], Type{}).bits) ++wrong;
  }
  CHECK(wrong == 0);

  std::vector<Type> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].bits = static_cast<std::uint16_t>(i);
  std::vector<float> widened(all.size());
  convert(all, widened);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (bits_of(widened[i]) != bits_of(to_float(all[i]))) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every 16-bit value comes back from FP32 as it was") {
  CHECK(first_not_kept<Float16>() == 65536);
  CHECK(first_not_kept<Bfloat16>() == 65536);
}

TEST_CASE(
    "a midpoint between two 16-bit values goes to the even one, its neighbours to the nearer") {
  CHECK(check_midpoints<Float16>() == 31 * 1024);
  CHECK(check_midpoints<Bfloat16>() == 255 * 128);
}

TEST_CASE("FP16 values are what their bits say") {
  for (int i = 0; i < 0x7c00; ++i) {
    const int exponent = i >> 10;
    const int mantissa = i & 0x3ff;
    const double expected =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    REQUIRE(static_cast<double>(to_float(Float16{static_cast<std::uint16_t>(i)})) == expected);
  }
  CHECK(to_float(Float16{0x7bff}) == 65504.0F);
  CHECK(to_float(Float16{0x0001}) == 0x1p-24F);
  CHECK(to_float(Float16{0xfc00}) == -kInf);
}

TEST_CASE("what is too large becomes infinity and what is too small becomes zero with its sign") {
  CHECK(to_float16(65519.996F).bits == 0x7bff);
  CHECK(to_float16(65520.0F).bits == 0x7c00);
  CHECK(to_float16(-1e30F).bits == 0xfc00);
  CHECK(to_float16(0x1p-25F).bits == 0);
  CHECK(to_float16(-0x1p-25F).bits == 0x8000);
  CHECK(to_float16(0x1.000002p-25F).bits == 1);
  CHECK(to_float16(-std::numeric_limits<float>::denorm_min()).bits == 0x8000);
  CHECK(to_bfloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(to_bfloat16(-std::numeric_limits<float>::max()).bits == 0xff80);
  CHECK(to_bfloat16(std::numeric_limits<float>::denorm_min()).bits == 0);
  CHECK(to_bfloat16(0x1p-133F).bits == 1);
  CHECK(round_to_tf32(std::numeric_limits<float>::max()) == kInf);
}

TEST_CASE("a NaN stays a NaN, even where its payload does not fit") {
  for (const std::uint32_t bits :
       {0x7f800001U, 0xff800001U, 0x7fc00000U, 0x7fffffffU, 0x7f802000U}) {
    const auto value = std::bit_cast<float>(bits);
    CHECK(std::isnan(to_float(to_float16(value))));
    CHECK(std::isnan(to_float(to_bfloat16(value))));
    CHECK(std::isnan(round_to_tf32(value)));
    CHECK(std::signbit(to_float(to_float16(value))) == std::signbit(value));
  }
}

TEST_CASE("a TF32 value has ten bits of mantissa and is the nearest, ties to even") {
  CHECK(round_to_tf32(1.0F + 0x1p-11F) == 1.0F);
  CHECK(round_to_tf32(1.0F + 0x3p-11F) == 1.0F + 0x1p-9F);
  CHECK(round_to_tf32(1.0F + 0x1.002p-11F) == 1.0F + 0x1p-10F);
  CHECK(round_to_tf32(-kInf) == -kInf);
  CHECK(bits_of(round_to_tf32(-0.0F)) == 0x80000000U);
  int wrong = 0;
  for (const float value : many_floats()) {
    if (std::isnan(value)) continue;
    const float rounded = round_to_tf32(value);
    if ((bits_of(rounded) & 0x1fffU) != 0 || round_to_tf32(rounded) != rounded) ++wrong;
    // Where FP16 has normal values it has the same mantissa, so it must round alike.
    const float magnitude = std::abs(value);
    if (magnitude >= 0x1p-14F && magnitude < 65504.0F && to_float(to_float16(value)) != rounded)
      ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("spans of FP16 convert in hardware as in the plain functions") {
  INFO("F16C: " << has_f16c());
  check_spans<Float16>();
}

TEST_CASE("spans of BF16 convert as the plain functions do") {
  check_spans<Bfloat16>();
}
