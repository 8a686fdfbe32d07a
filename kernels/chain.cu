#include "kernels/chain.h"

#include "kernels/chain.cuh"
#include "kernels/map.cuh"

namespace trainscope::kernels {
namespace {

__global__ void __launch_bounds__(kMapThreads, 4)
    chain_kernel(const __grid_constant__ Chain chain, bool packed) {
  ChainValues<kReadWidth> registers[kChainRegisters];
  const std::size_t step = item_step() * kReadWidth;
  for (std::size_t i = first_item() * kReadWidth; i < chain.values; i += step) {
    const bool whole = i + kReadWidth <= chain.values;
    const int count = whole ? kReadWidth : static_cast<int>(chain.values - i);
    const ChainPlaces<kReadWidth> at{i, 1, count, packed && whole};
    run_values(ReadSteps{chain}, at, registers);
  }
}

}  // namespace

void run_chain(Stream stream, const Chain& chain) {
  if (chain.values == 0) return;
  const std::size_t items = (chain.values + kReadWidth - 1) / kReadWidth;
  launch("chain", chain_kernel, stream, shape_for(items), chain, is_packed(chain, kReadWidth));
}

}  // namespace trainscope::kernels
