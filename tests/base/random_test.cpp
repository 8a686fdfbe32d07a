#include "base/random.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <set>

using namespace trainscope;

namespace {

void check_block(PhiloxCounter counter, PhiloxKey key, PhiloxCounter expected) {
  const PhiloxCounter words = philox4x32(counter, key);
  for (int i = 0; i < 4; ++i) CHECK(words.words[i] == expected.words[i]);
}

}  // namespace

// The lines "philox4x32 10" of tests/kat_vectors in Random123 1.14.0 (D. E. Shaw Research).
TEST_CASE("philox gives the published known answers") {
  check_block({{0, 0, 0, 0}}, {{0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check_block({{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}}, {{0xffffffff, 0xffffffff}},
              {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check_block({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}},
              {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST_CASE("philox is computed by the compiler as at run time") {
  static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}}).words[0] == 0x6627e8d5);
  CHECK(random_word(0, 0) == 0x6627e8d5);
}

TEST_CASE("a word of a stream is found by its index alone") {
  const std::uint64_t seed = 0x299f31d0'a4093822;
  const std::uint64_t block = 0x85a308d3'243f6a88;
  const std::uint64_t stream = 0x03707344'13198a2e;
  CHECK(random_block(seed, block, stream).words[2] == 0x5001e420);
  for (std::uint64_t i = 0; i < 64; ++i) {
    CHECK(random_word(seed, i, 7) == random_block(seed, i / 4, 7).words[i % 4]);
  }
}

TEST_CASE("streams and seeds do not share words") {
  std::set<std::uint32_t> seen;
  for (std::uint64_t i = 0; i < 100; ++i) {
    for (std::uint64_t stream : {0, 1}) {
      for (std::uint64_t seed : {0, 1}) seen.insert(random_word(seed, i, stream));
    }
  }
  CHECK(seen.size() == 400);
}

TEST_CASE("a unit float is in the half-open interval from 0 to 1") {
  CHECK(unit_float(0) == 0.0F);
  CHECK(unit_float(0xffffffff) == 1.0F - 0x1p-24F);
  CHECK(unit_float(0x80000000) == 0.5F);
  double sum = 0;
  double squares = 0;
  const int count = 100'000;
  for (int i = 0; i < count; ++i) {
    const double value = unit_float(random_word(1, static_cast<std::uint64_t>(i)));
    sum += value;
    squares += value * value;
  }
  // Mean 1/2 with a standard error of 0.0009; second moment 1/3 with one of 0.0009: five of each.
  CHECK(std::abs(sum / count - 0.5) < 0.0046);
  CHECK(std::abs(squares / count - 1.0 / 3) < 0.0047);
}
