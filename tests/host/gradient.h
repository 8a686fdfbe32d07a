// Gradients by finite differences, and random values to take them at.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "base/random.h"
#include "host/views.h"

// `count` numbers of a normal distribution (Box and Muller 1958), the same ones for a seed.
inline std::vector<float> normal_values(std::size_t count, std::uint64_t seed, double scale = 1) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double radius = 1 - trainscope::unit_float(trainscope::random_word(seed, 2 * i));
    const double angle = trainscope::unit_float(trainscope::random_word(seed, 2 * i + 1));
    values[i] = static_cast<float>(scale * std::sqrt(-2 * std::log(radius)) *
                                   std::cos(2 * std::numbers::pi * angle));
  }
  return values;
}

inline double dot(trainscope::host::Values a, trainscope::host::Values b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

inline constexpr double kDifferenceStep = 1.0 / 64;
inline constexpr double kDifferenceTolerance = 2e-3;

// Checks `gradient` of loss() for `x`, which loss() reads, by central differences: step 1/64,
// within 0.002 of the largest gradient. (Rounding of FP32 makes up to 1e-4 of that, the third
// derivative, step² / 6 of it, the most of the rest.)
template <typename Loss>
void check_gradient(std::vector<float>& x, const Loss& loss, trainscope::host::Values gradient,
                    double tolerance = kDifferenceTolerance) {
  REQUIRE(x.size() == gradient.size());
  double largest = 0;
  for (const float g : gradient) largest = std::max(largest, std::abs(static_cast<double>(g)));
  REQUIRE(largest > 0);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float kept = x[i];
    const auto up = static_cast<float>(kept + kDifferenceStep);
    const auto down = static_cast<float>(kept - kDifferenceStep);
    x[i] = up;
    const double above = loss();
    x[i] = down;
    const double below = loss();
    x[i] = kept;
    const double slope = (above - below) / (static_cast<double>(up) - down);
    worst = std::max(worst, std::abs(slope - gradient[i]));
  }
  CHECK(worst <= tolerance * largest);
}
