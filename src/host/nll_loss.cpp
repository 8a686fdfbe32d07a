#include "host/nll_loss.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

namespace trainscope::host {

void nll_loss_forward(const MatrixShape& shape, Values log_p, Targets targets, Results loss) {
  assert(log_p.size() == shape.size() && targets.size() == shape.rows && loss.size() == 1);
  const std::size_t counted = counted_targets(targets, shape.columns);
  double total = 0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    if (targets[row] == kIgnoredTarget) continue;
    total -= log_p[row * shape.columns + static_cast<std::size_t>(targets[row])];
  }
  loss[0] = static_cast<float>(total / static_cast<double>(counted));
}

void nll_loss_backward(const MatrixShape& shape, Targets targets, float dloss, Results dlog_p) {
  assert(dlog_p.size() == shape.size() && targets.size() == shape.rows);
  const std::size_t counted = counted_targets(targets, shape.columns);
  std::fill(dlog_p.begin(), dlog_p.end(), 0.0F);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    if (targets[row] == kIgnoredTarget) continue;
    dlog_p[row * shape.columns + static_cast<std::size_t>(targets[row])] =
        -dloss / static_cast<float>(counted);
  }
}

}  // namespace trainscope::host
