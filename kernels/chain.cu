#include "kernels/chain.h"

#include "kernels/chain.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

__global__ void __launch_bounds__(kMapThreads, 4)
    chain_kernel(const __grid_constant__ Chain chain, bool packed) {
  ChainValues registers[kChainRegisters];
  const std::size_t step = item_step() * kChainWidth;
  for (std::size_t i = first_item() * kChainWidth; i < chain.values; i += step) {
    const bool whole = i + kChainWidth <= chain.values;
    const int count = whole ? kChainWidth : static_cast<int>(chain.values - i);
    run_values(chain, {i, 1, count, packed && whole}, registers);
  }
}

}  // namespace

void run_chain(Stream stream, const Chain& chain) {
  if (chain.values == 0) return;
  const std::size_t items = (chain.values + kChainWidth - 1) / kChainWidth;
  launch("chain", chain_kernel, stream, shape_for(items), chain, is_packed(chain));
}

}  // namespace trainscope::kernels
