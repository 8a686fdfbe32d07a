// Counts as people write them: exact where they are short, "2048", else "27.2 k".
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/units.h"

namespace trainscope::ui {

inline std::string exact_count(double value) {
  constexpr double kShort = 10'000;
  if (value == std::round(value) && std::abs(value) < kShort) return fmt::format("{:.0f}", value);
  return format_count(value);
}

}  // namespace trainscope::ui
