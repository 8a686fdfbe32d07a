// Sums down the columns of a matrix, each term computed on the way, accumulated in FP64.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "host/views.h"

namespace trainscope::host {

// sums[c] = Σ over rows of term(row, c), or added to it. Walks the rows once a block of columns, so
// that memory is read in order and nothing is allocated.
template <typename Term>
void column_sums(const MatrixShape& shape, const Term& term, Results sums, Into into) {
  assert(sums.size() == shape.columns);
  constexpr std::size_t kBlock = 128;
  for (std::size_t begin = 0; begin < shape.columns; begin += kBlock) {
    const std::size_t count = std::min(kBlock, shape.columns - begin);
    std::array<double, kBlock> totals{};
    for (std::size_t row = 0; row < shape.rows; ++row) {
      for (std::size_t c = 0; c < count; ++c) totals[c] += term(row, begin + c);
    }
    for (std::size_t c = 0; c < count; ++c) {
      const double before = into == Into::kAdd ? sums[begin + c] : 0.0;
      sums[begin + c] = static_cast<float>(before + totals[c]);
    }
  }
}

}  // namespace trainscope::host
