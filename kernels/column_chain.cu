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

  __device__ ColumnValues<1> operator()(std::size_t row, std::size_t c) const {
    float registers[kChainRegisters] = {};
    run_value(chain, row * columns + c, registers);
    return {{registers[summed]}};
  }
};

struct ChainOfSums {
  Chain chain;

  __device__ void operator()(std::size_t c, const ColumnValues<1>& sum) const {
    float registers[kChainRegisters] = {};
    registers[0] = sum.values[0];
    run_value(chain, c, registers);
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
