#include "host/layer_norm.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "host/column_sums.h"
#include "host/sums.h"

namespace trainscope::host {
namespace {

struct Moments {
  float mean;
  float rstd;
};

Moments moments_of(Values row, float eps) {
  const auto count = static_cast<double>(row.size());
  const double mean = sum_of(row.size(), [&](std::size_t c) { return row[c]; }) / count;
  const double squares = sum_of(row.size(), [&](std::size_t c) {
    const double away = row[c] - mean;
    return away * away;
  });
  return {static_cast<float>(mean), static_cast<float>(1 / std::sqrt(squares / count + eps))};
}

void row_forward(Values x, Values gamma, Values beta, Moments moments, Results y) {
  for (std::size_t c = 0; c < x.size(); ++c) {
    y[c] = (x[c] - moments.mean) * moments.rstd * gamma[c] + beta[c];
  }
}

void row_backward(Values x, Values gamma, Values dy, Moments moments, Results dx) {
  const double sum = sum_of(x.size(), [&](std::size_t c) { return dy[c] * gamma[c]; });
  const double with_x = sum_of(x.size(), [&](std::size_t c) {
    return static_cast<double>(dy[c] * gamma[c]) * ((x[c] - moments.mean) * moments.rstd);
  });
  const auto count = static_cast<double>(x.size());
  const auto mean_g = static_cast<float>(sum / count);
  const auto mean_gx = static_cast<float>(with_x / count);
  for (std::size_t c = 0; c < x.size(); ++c) {
    const float normalised = (x[c] - moments.mean) * moments.rstd;
    dx[c] = moments.rstd * (dy[c] * gamma[c] - mean_g - normalised * mean_gx);
  }
}

}  // namespace

void layer_norm_forward(const MatrixShape& shape, Values x, Values gamma, Values beta, Results y,
                        const RowMoments& moments, float eps, const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  assert(gamma.size() == shape.columns && beta.size() == shape.columns);
  assert(moments.mean.size() == shape.rows && moments.rstd.size() == shape.rows);
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const Values in = x.subspan(row * shape.columns, shape.columns);
      const Moments found = moments_of(in, eps);
      moments.mean[row] = found.mean;
      moments.rstd[row] = found.rstd;
      row_forward(in, gamma, beta, found, y.subspan(row * shape.columns, shape.columns));
    }
  });
}

void layer_norm_backward(const MatrixShape& shape, Values x, Values gamma, Values dy, Values mean,
                         Values rstd, const NormGradients& gradients, Into into,
                         const Workers& workers) {
  assert(x.size() == shape.size() && dy.size() == shape.size());
  const auto rows = [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const std::size_t first = row * shape.columns;
      row_backward(x.subspan(first, shape.columns), gamma, dy.subspan(first, shape.columns),
                   {mean[row], rstd[row]}, gradients.dx.subspan(first, shape.columns));
    }
  };
  const auto scaled = [&](std::size_t row, std::size_t c) {
    const std::size_t i = row * shape.columns + c;
    return static_cast<double>(dy[i]) * ((x[i] - mean[row]) * rstd[row]);
  };
  const auto plain = [&](std::size_t row, std::size_t c) {
    return static_cast<double>(dy[row * shape.columns + c]);
  };
  if (!gradients.dx.empty()) workers.for_ranges(shape.rows, grain_of(shape.columns), rows);
  if (!gradients.dgamma.empty()) column_sums(shape, scaled, gradients.dgamma, into, workers);
  if (!gradients.dbeta.empty()) column_sums(shape, plain, gradients.dbeta, into, workers);
}

}  // namespace trainscope::host
