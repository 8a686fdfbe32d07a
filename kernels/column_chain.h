// A chain of steps and the sums down the columns of one of its results: value by value before a
// bias's gradient, as torch.compile fuses them. CPU reference: the steps' own, then
// host/bias.h.
//
// Where there are many rows a second kernel adds the parts of each sum up. What is done to the
// sums, their rounding to the type of their buffer among it, is carried out with them. The order of
// summation is column_sums' in reductions.h: the same bits.
#pragma once

#include "kernels/chain.h"

namespace trainscope::kernels {

struct ColumnChain {
  Chain values;             // of all values of the matrix
  std::uint8_t summed = 0;  // its register that is summed
  Chain sums;               // of the sums, which its register 0 has before the first step
};

// Floats of room.
std::size_t column_chain_workspace(const Matrix& shape);

void run_column_chain(Stream stream, const Matrix& shape, const ColumnChain& chain,
                      float* workspace);

}  // namespace trainscope::kernels
