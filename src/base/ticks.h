// Where the numbers beside an axis stand.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace trainscope {

// The least of 1, 2, 5, 10, ... times a power of ten of which at most `most` fit into `range`; both
// above 0.
inline double tick_step(double range, double most) {
  const double least = range / most;
  const double decade = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * decade >= least * (1 - 1e-9)) return factor * decade;
  return 10 * decade;
}

// The multiples of `step` (above 0) from `from` to `to`, both among them where they are multiples
// but for rounding.
inline std::vector<double> multiples(double step, double from, double to) {
  constexpr double kRounding = 1e-9;  // of a step
  const auto last = static_cast<std::int64_t>(std::floor(to / step + kRounding));
  std::vector<double> all;
  for (auto i = static_cast<std::int64_t>(std::ceil(from / step - kRounding)); i <= last; ++i)
    all.push_back(static_cast<double>(i) * step);
  return all;
}

// A tick's time beside it: "2.5 ms", whatever stands beside; "0" at 0.
std::string format_tick(double nanos);

}  // namespace trainscope
