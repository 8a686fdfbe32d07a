#include "host/cross_entropy.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "host/softmax_rows.h"

namespace trainscope::host {
namespace {

// A row of logits becomes its softmax less 1 at the target, times `share`.
void row_backward(Results values, std::size_t target, float maximum, float logarithm, float share) {
  for (float& value : values) value = std::exp(value - maximum - logarithm);
  values[target] -= 1.0F;
  for (float& value : values) value *= share;
}

}  // namespace

float cross_entropy_forward(const MatrixShape& shape, Values logits, Targets targets,
                            Results statistics, const Workers& workers) {
  assert(logits.size() == shape.size() && targets.size() == shape.rows);
  assert(statistics.size() == 2 * shape.rows);
  const std::size_t counted = counted_targets(targets, shape.columns);
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const auto [maximum, logarithm] = softmax_row(&logits[row * shape.columns], shape.columns);
      statistics[2 * row] = maximum;
      statistics[2 * row + 1] = logarithm;
    }
  });
  double total = 0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    if (targets[row] == kIgnoredTarget) continue;
    const float logit = logits[row * shape.columns + static_cast<std::size_t>(targets[row])];
    total += static_cast<double>(statistics[2 * row + 1]) - (logit - statistics[2 * row]);
  }
  return static_cast<float>(total / static_cast<double>(counted));
}

void cross_entropy_backward(const MatrixShape& shape, Results logits, Targets targets,
                            Values statistics, float dloss, const Workers& workers) {
  assert(logits.size() == shape.size() && targets.size() == shape.rows);
  assert(statistics.size() == 2 * shape.rows);
  const std::size_t counted = counted_targets(targets, shape.columns);
  const float share = dloss / static_cast<float>(counted);
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Results values = logits.subspan(row * shape.columns, shape.columns);
      if (targets[row] == kIgnoredTarget) {
        std::fill(values.begin(), values.end(), 0.0F);
        continue;
      }
      row_backward(values, static_cast<std::size_t>(targets[row]), statistics[2 * row],
                   statistics[2 * row + 1], share);
    }
  });
}

}  // namespace trainscope::host
