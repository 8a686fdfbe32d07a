#include "host/bias.h"

#include <cassert>

#include "host/column_sums.h"

namespace trainscope::host {

void bias_backward(const MatrixShape& shape, Values dy, Results db, Into into,
                   const Workers& workers) {
  assert(dy.size() == shape.size());
  const auto term = [&](std::size_t row, std::size_t c) {
    return static_cast<double>(dy[row * shape.columns + c]);
  };
  column_sums(shape, term, db, into, workers);
}

}  // namespace trainscope::host
