#include "host/rms_norm.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "host/column_sums.h"
#include "host/sums.h"

namespace trainscope::host {
namespace {

float rstd_of(Values row, float eps) {
  const double squares =
      sum_of(row.size(), [&](std::size_t c) { return static_cast<double>(row[c]) * row[c]; });
  return static_cast<float>(1 / std::sqrt(squares / static_cast<double>(row.size()) + eps));
}

void row_backward(Values x, Values gamma, Values dy, float rstd, Results dx) {
  const double with_x = sum_of(x.size(), [&](std::size_t c) {
    return static_cast<double>(dy[c] * gamma[c]) * (x[c] * rstd);
  });
  const auto mean = static_cast<float>(with_x / static_cast<double>(x.size()));
  for (std::size_t c = 0; c < x.size(); ++c) dx[c] = rstd * (dy[c] * gamma[c] - x[c] * rstd * mean);
}

}  // namespace

void rms_norm_forward(const MatrixShape& shape, Values x, Values gamma, Results y, Results rstd,
                      float eps, const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  assert(gamma.size() == shape.columns && rstd.size() == shape.rows);
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::size_t first = row * shape.columns;
      const float found = rstd_of(x.subspan(first, shape.columns), eps);
      rstd[row] = found;
      for (std::size_t c = 0; c < shape.columns; ++c)
        y[first + c] = x[first + c] * found * gamma[c];
    }
  });
}

void rms_norm_backward_input(const MatrixShape& shape, Values x, Values gamma, Values dy,
                             Values rstd, Results dx, const Workers& workers) {
  assert(x.size() == shape.size() && dy.size() == shape.size() && dx.size() == shape.size());
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::size_t first = row * shape.columns;
      row_backward(x.subspan(first, shape.columns), gamma, dy.subspan(first, shape.columns),
                   rstd[row], dx.subspan(first, shape.columns));
    }
  });
}

void rms_norm_backward_weight(const MatrixShape& shape, Values x, Values dy, Values rstd,
                              Results dgamma, Into into, const Workers& workers) {
  assert(x.size() == shape.size() && dy.size() == shape.size());
  const auto scaled = [&](std::size_t row, std::size_t c) {
    const std::size_t i = row * shape.columns + c;
    return static_cast<double>(dy[i]) * (x[i] * rstd[row]);
  };
  column_sums(shape, scaled, dgamma, into, workers);
}

}  // namespace trainscope::host
