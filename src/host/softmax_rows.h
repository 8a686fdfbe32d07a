// What the softmax of a row of values needs of the whole row.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "host/sums.h"

namespace trainscope::host {

struct SoftmaxRow {
  float maximum = 0;
  float logarithm = 0;  // log Σ exp(x - maximum)
};

// Σ exp(x - maximum) in FP64. The exponentials are FP32, taken a block at a time.
inline double exponential_sum(const float* values, std::size_t count, float maximum) {
  constexpr std::size_t kBlock = 256;
  std::array<float, kBlock> exponentials;
  double sum = 0;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    for (std::size_t i = 0; i < size; ++i) {
      exponentials[i] = std::exp(values[begin + i] - maximum);
    }
    sum += sum_of(size, [&](std::size_t i) { return exponentials[i]; });
  }
  return sum;
}

// A NaN among the values reaches both results.
inline SoftmaxRow softmax_row(const float* values, std::size_t count) {
  const float maximum = largest_of(values, count);
  return {maximum, static_cast<float>(std::log(exponential_sum(values, count, maximum)))};
}

}  // namespace trainscope::host
