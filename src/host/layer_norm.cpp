#include "host/layer_norm.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "host/column_sums.h"

namespace trainscope::host {
namespace {

struct Moments {
  float mean;
  float rstd;
};

Moments moments_of(Values row, float eps) {
  const auto count = static_cast<double>(row.size());
  double sum = 0;
  for (const float value : row) sum += value;
  const double mean = sum / count;
  double squares = 0;
  for (const float value : row) squares += (value - mean) * (value - mean);
  return {static_cast<float>(mean), static_cast<float>(1 / std::sqrt(squares / count + eps))};
}

void row_backward(Values x, Values gamma, Values dy, Moments moments, Results dx) {
  double sum = 0;
  double with_x = 0;
  for (std::size_t c = 0; c < x.size(); ++c) {
    const float g = dy[c] * gamma[c];
    sum += g;
    with_x += static_cast<double>(g) * ((x[c] - moments.mean) * moments.rstd);
  }
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
                        const RowMoments& moments, float eps) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  assert(gamma.size() == shape.columns && beta.size() == shape.columns);
  assert(moments.mean.size() == shape.rows && moments.rstd.size() == shape.rows);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const Values in = x.subspan(row * shape.columns, shape.columns);
    const Results out = y.subspan(row * shape.columns, shape.columns);
    const auto [mean, rstd] = moments_of(in, eps);
    moments.mean[row] = mean;
    moments.rstd[row] = rstd;
    for (std::size_t c = 0; c < in.size(); ++c) out[c] = (in[c] - mean) * rstd * gamma[c] + beta[c];
  }
}

void layer_norm_backward(const MatrixShape& shape, Values x, Values gamma, Values dy, Values mean,
                         Values rstd, const NormGradients& gradients, Into into) {
  assert(x.size() == shape.size() && dy.size() == shape.size());
  assert(gradients.dx.size() == shape.size());
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::size_t begin = row * shape.columns;
    row_backward(x.subspan(begin, shape.columns), gamma, dy.subspan(begin, shape.columns),
                 {mean[row], rstd[row]}, gradients.dx.subspan(begin, shape.columns));
  }
  const auto scaled = [&](std::size_t row, std::size_t c) {
    const std::size_t i = row * shape.columns + c;
    return static_cast<double>(dy[i]) * ((x[i] - mean[row]) * rstd[row]);
  };
  const auto plain = [&](std::size_t row, std::size_t c) {
    return static_cast<double>(dy[row * shape.columns + c]);
  };
  column_sums(shape, scaled, gradients.dgamma, into);
  column_sums(shape, plain, gradients.dbeta, into);
}

}  // namespace trainscope::host
