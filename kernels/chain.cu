#include "kernels/chain.h"

#include "kernels/chain.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

__global__ void chain_kernel(Chain chain) {
  float registers[kChainRegisters] = {};
  for (std::size_t i = first_item(); i < chain.values; i += item_step()) {
    run_value(chain, i, registers);
  }
}

}  // namespace

void run_chain(Stream stream, const Chain& chain) {
  if (chain.values == 0) return;
  launch("chain", chain_kernel, stream, shape_for(chain.values), chain);
}

}  // namespace trainscope::kernels
