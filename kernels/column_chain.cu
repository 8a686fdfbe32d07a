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

  __device__ float operator()(std::size_t row, std::size_t c) const {
    float registers[kChainRegisters] = {};
    run_value(chain, row * columns + c, registers);
    return registers[summed];
  }
};

__global__ void column_totals_kernel(PartsTotal total, Chain chain) {
  float registers[kChainRegisters] = {};
  for (std::size_t c = first_item(); c < chain.values; c += item_step()) {
    registers[0] = total(c);
    run_value(chain, c, registers);
  }
}

}  // namespace

std::size_t column_chain_workspace(const Matrix& shape) {
  return column_terms_workspace(shape);
}

void run_column_chain(Stream stream, const Matrix& shape, const ColumnChain& chain,
                      float* workspace) {
  if (shape.columns == 0) return;
  const ChainTerm term{chain.values, shape.columns, chain.summed};
  const ColumnParts parts = sum_column_parts("column_chain", stream, shape, term, workspace);
  launch("column_chain", column_totals_kernel, stream, shape_for(shape.columns),
         PartsTotal{workspace, parts.count, shape.columns, nullptr}, chain.sums);
}

}  // namespace trainscope::kernels
