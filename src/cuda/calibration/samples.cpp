#include "cuda/calibration/samples.h"

#include <algorithm>
#include <cmath>

namespace trainscope::cuda {
namespace {

// Between two neighbours where the place is between them. `sorted` is not empty.
double at_share(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double part = place - static_cast<double>(below);
  return sorted[below] + part * (sorted[above] - sorted[below]);
}

Line line_through_zero(std::span<const Point> points) {
  double shares = 0, squares = 0;
  for (const Point& point : points) {
    const double ratio = point.x / point.y;
    shares += ratio;
    squares += ratio * ratio;
  }
  return {0, squares > 0 ? shares / squares : 0, 0, points.size()};
}

// The normal equations of the sum of ((a + b x - y) / y)².
Line weighted_line(std::span<const Point> points) {
  double s = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (const Point& point : points) {
    const double weight = 1 / (point.y * point.y);
    s += weight;
    sx += weight * point.x;
    sy += weight * point.y;
    sxx += weight * point.x * point.x;
    sxy += weight * point.x * point.y;
  }
  const double determinant = s * sxx - sx * sx;
  const double slope = (s * sxy - sx * sy) / determinant;
  return {(sy - slope * sx) / s, slope, 0, points.size()};
}

}  // namespace

Summary summarise(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {at_share(values, 0.5), (at_share(values, 0.75) - at_share(values, 0.25)) / 2,
          values.size()};
}

Line fit_line(std::span<const Point> points) {
  Line line = weighted_line(points);
  if (!(line.at_zero >= 0)) line = line_through_zero(points);
  for (const Point& point : points)
    line.worst =
        std::max(line.worst, std::abs(line.at_zero + line.slope * point.x - point.y) / point.y);
  return line;
}

}  // namespace trainscope::cuda
