#include "host/cross_entropy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#include "base/error.h"

namespace trainscope::host {
namespace {

void require_class(std::int64_t target, std::size_t row, std::size_t classes) {
  if (target >= 0 && static_cast<std::size_t>(target) < classes) return;
  throw InputError(fmt::format("target {} of row {} is no class: there are {}, from 0 to {}",
                               target, row, classes, static_cast<std::int64_t>(classes) - 1));
}

// A NaN among the values has to reach the loss, so it is not passed over.
float largest(Values row) {
  float best = -std::numeric_limits<float>::infinity();
  for (const float value : row) {
    if (value > best || std::isnan(value)) best = value;
    if (std::isnan(best)) break;
  }
  return best;
}

float log_sum(Values row, float maximum) {
  double sum = 0;
  for (const float value : row) sum += std::exp(value - maximum);
  return static_cast<float>(std::log(sum));
}

}  // namespace

float cross_entropy_forward(const MatrixShape& shape, Values logits,
                            std::span<const std::int64_t> targets, Results statistics) {
  assert(logits.size() == shape.size() && targets.size() == shape.rows);
  assert(statistics.size() == 2 * shape.rows);
  double total = 0;
  std::size_t counted = 0;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    if (targets[row] == kIgnoredTarget) continue;
    require_class(targets[row], row, shape.columns);
    const Values values = logits.subspan(row * shape.columns, shape.columns);
    const float maximum = largest(values);
    const float logarithm = log_sum(values, maximum);
    statistics[2 * row] = maximum;
    statistics[2 * row + 1] = logarithm;
    total +=
        static_cast<double>(logarithm) - (values[static_cast<std::size_t>(targets[row])] - maximum);
    ++counted;
  }
  return static_cast<float>(total / static_cast<double>(counted));
}

void cross_entropy_backward(const MatrixShape& shape, Results logits,
                            std::span<const std::int64_t> targets, Values statistics, float dloss) {
  assert(logits.size() == shape.size() && targets.size() == shape.rows);
  assert(statistics.size() == 2 * shape.rows);
  const auto counted = shape.rows - static_cast<std::size_t>(
                                        std::count(targets.begin(), targets.end(), kIgnoredTarget));
  const float share = dloss / static_cast<float>(counted);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const Results values = logits.subspan(row * shape.columns, shape.columns);
    if (targets[row] == kIgnoredTarget) {
      std::fill(values.begin(), values.end(), 0.0F);
      continue;
    }
    require_class(targets[row], row, shape.columns);
    const auto target = static_cast<std::size_t>(targets[row]);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const float share_of_class =
          std::exp(values[c] - statistics[2 * row] - statistics[2 * row + 1]);
      values[c] = (share_of_class - (c == target ? 1.0F : 0.0F)) * share;
    }
  }
}

}  // namespace trainscope::host
