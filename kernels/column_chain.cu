#include "kernels/column_chain.h"

#include "kernels/chain.cuh"
#include "kernels/column_sums.cuh"

namespace trainscope::kernels {
namespace {

// Each value is one term, and so is computed and written once.
struct ChainTerm {
  Chain chain;
  std::size_t columns;
  std::uint8_t summed;

  using Values = ColumnValues<1>;
};

// Several rows at once.
inline __device__ void add_terms(const ChainTerm& term, const ColumnRows& rows, std::size_t c,
                                 ColumnValues<1>& own) {
  ChainValues registers[kChainRegisters];
  for (std::size_t row = rows.begin; row < rows.end; row += rows.apart * kChainWidth) {
    const std::size_t left = (rows.end - row + rows.apart - 1) / rows.apart;
    const int count = left < kChainWidth ? static_cast<int>(left) : kChainWidth;
    const ChainPlaces at{row * term.columns + c, rows.apart * term.columns, count};
    run_values(term.chain, at, registers);
    for (int k = 0; k < count; ++k) own.values[0] += registers[term.summed].values[k];
  }
}

struct ChainOfSums {
  Chain chain;

  __device__ void operator()(std::size_t c, const ColumnValues<1>& sum) const {
    ChainValues registers[kChainRegisters];
    registers[0] = chain_values([&](int) { return sum.values[0]; });
    run_values(chain, {c, 1, 1}, registers);
  }
};

}  // namespace

std::size_t column_chain_workspace(const Matrix& shape) {
  return column_terms_workspace(shape);
}

void run_column_chain(Stream stream, const Matrix& shape, const ColumnChain& chain,
                      float* workspace) {
  const ChainTerm term{chain.values, shape.columns, chain.summed};
  sum_columns("column_chain", stream, shape, term, workspace, ChainOfSums{chain.sums});
}

}  // namespace trainscope::kernels
