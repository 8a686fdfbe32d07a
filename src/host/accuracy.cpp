#include "host/accuracy.h"

#include <cassert>
#include <cmath>

namespace trainscope::host {

std::size_t argmax(Values values) {
  assert(!values.empty());
  std::size_t best = 0;
  for (std::size_t i = 1; i < values.size() && !std::isnan(values[best]); ++i) {
    if (values[i] > values[best] || std::isnan(values[i])) best = i;
  }
  return best;
}

std::size_t correct_rows(const MatrixShape& shape, Values x, Targets targets) {
  assert(x.size() == shape.size() && targets.size() == shape.rows);
  counted_targets(targets, shape.columns);
  std::size_t correct = 0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    if (targets[row] == kIgnoredTarget) continue;
    const std::size_t best = argmax(x.subspan(row * shape.columns, shape.columns));
    if (best == static_cast<std::size_t>(targets[row])) ++correct;
  }
  return correct;
}

}  // namespace trainscope::host
