#include "kernels/column_chain.h"

#include "kernels/column_chain.cuh"

namespace trainscope::kernels {

std::size_t column_chain_workspace(const Matrix& shape) {
  return column_terms_workspace(shape);
}

void run_column_chain(Stream stream, const Matrix& shape, const ColumnChain& chain,
                      float* workspace) {
  const ChainTerm term{chain.values, shape.columns, chain.summed};
  sum_columns("column_chain", stream, shape, term, workspace, ChainOfSums{chain.sums});
}

}  // namespace trainscope::kernels
