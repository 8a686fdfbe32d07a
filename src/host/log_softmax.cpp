#include "host/log_softmax.h"

#include <cassert>
#include <cmath>
#include <cstddef>

#include "host/softmax_rows.h"
#include "host/sums.h"

namespace trainscope::host {

void log_softmax_forward(const MatrixShape& shape, Values x, Results y, const Workers& workers) {
  assert(x.size() == shape.size() && y.size() == shape.size());
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const float* in = &x[row * shape.columns];
      float* out = &y[row * shape.columns];
      const SoftmaxRow sums = softmax_row(in, shape.columns);
#pragma omp simd
      for (std::size_t c = 0; c < shape.columns; ++c)
        out[c] = in[c] - sums.maximum - sums.logarithm;
    }
  });
}

void log_softmax_backward(const MatrixShape& shape, Values y, Values dy, Results dx,
                          const Workers& workers) {
  assert(y.size() == shape.size() && dy.size() == shape.size() && dx.size() == shape.size());
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      const float* out = &y[row * shape.columns];
      const float* d_out = &dy[row * shape.columns];
      float* d_in = &dx[row * shape.columns];
      const auto sum =
          static_cast<float>(sum_of(shape.columns, [=](std::size_t c) { return d_out[c]; }));
#pragma omp simd
      for (std::size_t c = 0; c < shape.columns; ++c) d_in[c] = d_out[c] - std::exp(out[c]) * sum;
    }
  });
}

}  // namespace trainscope::host
