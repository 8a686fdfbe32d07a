#include "kernels/norm_chain.h"

#include "kernels/norm_chain.cuh"

namespace trainscope::kernels {
namespace {

__global__ void __launch_bounds__(kMostRowThreads, 3)
    norm_chain_kernel(const __grid_constant__ NormChain chain,
                      const __grid_constant__ NormWalk walk) {
  const ReadNorms norms{chain};
  NormBlock<ReadNorms>{norms, walk, {}}.run_in_walks();
}

}  // namespace

void run_norm_chain(Stream stream, const NormChain& chain) {
  if (chain.chain.values == 0) return;
  const std::size_t pack = chain.type == NumberType::kFp32 ? kPackOf<float> : kPackOf<Half>;
  launch("norm_chain", norm_chain_kernel, stream, shape_for_rows(chain.rows, pack), chain,
         NormWalk{chain.rows.columns, pack, is_packed(chain, kReadWidth)});
}

}  // namespace trainscope::kernels
