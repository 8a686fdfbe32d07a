// Where the numbers beside an axis stand.
#pragma once

#include <cmath>
#include <string>

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

// A tick's time beside it: "2.5 ms", whatever stands beside; "0" at 0.
std::string format_tick(double nanos);

}  // namespace trainscope
