#include "host/shared_loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "host/sums.h"

namespace trainscope::host {
namespace {

// Calls body(row) for each.
template <typename Body>
void for_rows(const MatrixShape& shape, const Workers& workers, const Body& body) {
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) body(row);
  });
}

// Calls body(row, place in x) for each row whose target is this rank's.
template <typename Body>
void for_own_targets(const MatrixShape& shape, const OwnClasses& own, Targets targets,
                     const Body& body) {
  assert(targets.size() == shape.rows);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    if (targets[row] < 0) continue;
    const auto target = static_cast<std::size_t>(targets[row]);
    if (target >= own.begin && target < own.begin + own.count)
      body(row, row * shape.columns + target - own.begin);
  }
}

}  // namespace

void row_maxima(const MatrixShape& shape, const OwnClasses& own, Values x, Results maxima,
                const Workers& workers) {
  assert(x.size() == shape.size() && maxima.size() == shape.rows);
  for_rows(shape, workers, [&](std::size_t row) {
    maxima[row] = own.count == 0 ? -std::numeric_limits<float>::infinity()
                                 : largest_of(&x[row * shape.columns], own.count);
  });
}

void row_sums(const MatrixShape& shape, const OwnClasses& own, Values x, Results sums,
              const Workers& workers) {
  assert(x.size() == shape.size() && sums.size() == shape.rows);
  for_rows(shape, workers, [&](std::size_t row) {
    const float* values = x.data() + row * shape.columns;
    sums[row] =
        static_cast<float>(sum_of(own.count, [values](std::size_t c) { return values[c]; }));
  });
}

void shift_rows(const MatrixShape& shape, Values x, Values numbers, Results y,
                const Workers& workers) {
  assert(x.size() == shape.size() && numbers.size() == shape.rows && y.size() == shape.size());
  for_rows(shape, workers, [&](std::size_t row) {
    const std::size_t first = row * shape.columns;
    for (std::size_t c = 0; c < shape.columns; ++c) y[first + c] = x[first + c] - numbers[row];
  });
}

void exponentials(const MatrixShape& shape, const OwnClasses& own, Values x, Results y,
                  const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  for_rows(shape, workers, [&](std::size_t row) {
    const std::size_t first = row * shape.columns;
    for (std::size_t c = 0; c < own.count; ++c) y[first + c] = std::exp(x[first + c]);
    std::fill_n(y.begin() + static_cast<std::ptrdiff_t>(first + own.count),
                shape.columns - own.count, 0.0F);
  });
}

void logarithms(Values x, Results y) {
  std::ranges::transform(x, y.begin(), [](float value) { return std::log(value); });
}

void pick_targets(const MatrixShape& shape, const OwnClasses& own, Values x, Targets targets,
                  Results picked) {
  std::ranges::fill(picked, 0.0F);
  for_own_targets(shape, own, targets,
                  [&](std::size_t row, std::size_t place) { picked[row] = x[place]; });
}

void mark_targets(const MatrixShape& shape, const OwnClasses& own, Targets targets, Results y) {
  std::ranges::fill(y, 0.0F);
  for_own_targets(shape, own, targets, [&](std::size_t, std::size_t place) { y[place] = -1; });
}

}  // namespace trainscope::host
