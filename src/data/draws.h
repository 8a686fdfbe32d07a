// A sequence of random numbers for one generated sample: Philox words of (seed, stream) in order.
//
// The numbers are made with exact and correctly rounded arithmetic only, so they are the same on
// every platform; the standard library's distributions are not. One expression draws once only: the
// order of two draws in it, as of two arguments, is up to the compiler.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.h"
#include "data/dataset.h"

namespace trainscope::data {

class Draws {
 public:
  Draws(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

  std::uint32_t word() {
    if (next_ % 4 == 0) block_ = random_block(seed_, next_ / 4, stream_);
    return block_.words[next_++ % 4];
  }

  float unit() { return unit_float(word()); }  // in [0, 1)
  float between(float least, float most) { return least + (most - least) * unit(); }

  // A whole number from 0 to count - 1.
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(std::uint64_t{word()} * count >> 32);
  }

  bool chance(float probability) { return unit() < probability; }

  // Mean 0, standard deviation 1, and no farther out than 3.5: the sum of four uniform numbers,
  // whose variance is 4/12, times the square root of 3.
  float normal() {
    float sum = 0;
    for (int i = 0; i < 4; ++i) sum += unit();
    return (sum - 2) * 1.7320508F;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
  std::uint64_t next_ = 0;
  PhiloxCounter block_{};
};

// Keeps generated data sets and their samples apart: one stream each.
enum class DrawsOf : std::uint8_t { kDigits, kSpirals, kText };

constexpr std::uint64_t stream_of(DrawsOf what, Split split, std::int64_t index) {
  return static_cast<std::uint64_t>(what) << 56 | static_cast<std::uint64_t>(split) << 48 |
         static_cast<std::uint64_t>(index);
}

}  // namespace trainscope::data
