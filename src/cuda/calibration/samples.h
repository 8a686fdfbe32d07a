// What repeated measurements say: medians with their spread, and lines through points.
//
// Medians, because what disturbs a measurement (another process, a page fault) only makes it
// longer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace trainscope::cuda {

struct Summary {
  double median = 0;
  double spread = 0;  // half the distance from the lower to the upper quartile
  std::size_t count = 0;
};

// Of none: all 0.
Summary summarise(std::vector<double> values);

struct Point {
  double x = 0;
  double y = 0;  // above 0
};

// y = at_zero + slope x.
struct Line {
  double at_zero = 0;
  double slope = 0;
  double worst = 0;  // the largest distance of a point from it, as a share of the point
  std::size_t count = 0;
};

// The line whose distances, as shares of the points, have the least sum of squares: a small point
// counts as much as a large one. At least two different x. A line that would begin below 0 begins
// at 0.
Line fit_line(std::span<const Point> points);

}  // namespace trainscope::cuda
