// Sums down the columns of a matrix, each term computed on the way, accumulated in FP64.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>

#include "host/views.h"
#include "host/workers.h"

namespace trainscope::host {

inline constexpr std::size_t kColumnBlock = 128;

// Calls take(c, Σ over rows of term(row, c)) for the columns of one block from `begin` on. Walks
// the rows once, so that memory is read in order and nothing is allocated.
template <typename Term, typename Take>
void column_block_totals(const MatrixShape& shape, std::size_t begin, const Term& term,
                         const Take& take) {
  const std::size_t count = std::min(kColumnBlock, shape.columns - begin);
  std::array<double, kColumnBlock> totals{};
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (std::size_t c = 0; c < count; ++c) totals[c] += term(row, begin + c);
  }
  for (std::size_t c = 0; c < count; ++c) take(begin + c, totals[c]);
}

template <typename Term, typename Take>
void column_totals(const MatrixShape& shape, const Term& term, const Take& take) {
  for (std::size_t begin = 0; begin < shape.columns; begin += kColumnBlock) {
    column_block_totals(shape, begin, term, take);
  }
}

// sums[c] = Σ over rows of term(row, c), or added to it.
template <typename Term>
void column_sums(const MatrixShape& shape, const Term& term, Results sums, Into into,
                 const Workers& workers) {
  assert(sums.size() == shape.columns);
  const auto take = [&](std::size_t c, double total) {
    sums[c] = static_cast<float>((into == Into::kAdd ? sums[c] : 0.0) + total);
  };
  const std::size_t blocks = (shape.columns + kColumnBlock - 1) / kColumnBlock;
  workers.for_ranges(blocks, grain_of(shape.rows * kColumnBlock),
                     [&](std::size_t begin, std::size_t end) {
                       for (std::size_t block = begin; block < end; ++block) {
                         column_block_totals(shape, block * kColumnBlock, term, take);
                       }
                     });
}

}  // namespace trainscope::host
