// The middle of some times, in nanoseconds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/time.h"

namespace trainscope {

// Of an even number of them the later of the two in the middle; 0 of none.
inline Nanos median(std::vector<Nanos> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace trainscope
