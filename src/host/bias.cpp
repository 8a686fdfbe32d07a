#include "host/bias.h"

#include <cassert>

#include "host/column_sums.h"

namespace trainscope::host {

void bias_forward(const MatrixShape& shape, Values bias, Results values, const Workers& workers) {
  assert(bias.size() == shape.columns && values.size() == shape.size());
  workers.for_ranges(shape.rows, grain_of(shape.columns), [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      float* out = &values[row * shape.columns];
      for (std::size_t c = 0; c < shape.columns; ++c) out[c] += bias[c];
    }
  });
}

void bias_backward(const MatrixShape& shape, Values dy, Results db, Into into,
                   const Workers& workers) {
  assert(dy.size() == shape.size());
  const auto term = [&](std::size_t row, std::size_t c) {
    return static_cast<double>(dy[row * shape.columns + c]);
  };
  column_sums(shape, term, db, into, workers);
}

}  // namespace trainscope::host
