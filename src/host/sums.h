// Sums in FP64 that the compiler can vectorise: eight running sums, added together at the end.
#pragma once

#include <array>
#include <cstddef>

namespace trainscope::host {

// Σ term(i) for i from 0 to before `count`, always in the same order.
template <typename Term>
double sum_of(std::size_t count, const Term& term) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] += term(i);
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// The largest of `count` values, at least one; NaN if there is one among them.
inline float largest_of(const float* values, std::size_t count) {
  constexpr std::size_t kLanes = 8;
  // Of a and b, where a NaN in either stays.
  const auto larger = [](float a, float b) { return b > a || b != b ? b : a; };
  std::array<float, kLanes> lanes;
  lanes.fill(values[0]);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      lanes[lane] = larger(lanes[lane], values[i + lane]);
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] = larger(lanes[lane], values[i]);
  float best = lanes[0];
  for (const float lane : lanes) best = larger(best, lane);
  return best;
}

}  // namespace trainscope::host
