#include "kernels/busy.h"

#include <string>

#include "base/error.h"
#include "kernels/special.cuh"

namespace trainscope::kernels {
namespace {

template <int kChains>
__device__ float run_chains(std::size_t thread, int rounds) {
  float values[kChains];
  for (int chain = 0; chain < kChains; ++chain) {
    values[chain] = static_cast<float>(thread % 1024) + static_cast<float>(chain);
  }
  for (int round = 0; round < rounds; ++round) {
    for (int chain = 0; chain < kChains; ++chain) values[chain] = fmaf(values[chain], 0.5F, 1.0F);
  }
  float sum = 0;
  for (const float value : values) sum += value;
  return sum;
}

template <int kChains, bool kRecords>
__global__ void busy_kernel(int rounds, float* results, BlockRecord* records) {
  std::uint64_t start = 0;
  if (kRecords && threadIdx.x == 0) start = nanoseconds();
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  results[thread] = run_chains<kChains>(thread, rounds);
  if (!kRecords) return;
  const int arrived = __syncthreads_count(1);
  if (threadIdx.x != 0) return;
  records[blockIdx.x] = {start, nanoseconds_after(arrived), sm_number(), 0};
}

template <int kChains>
void launch_busy(Stream stream, const Busy& busy, float* results, BlockRecord* records) {
  const Shape shape{{busy.blocks, 1, 1}, {busy.threads, 1, 1}, busy.shared_bytes};
  const auto kernel = records == nullptr ? busy_kernel<kChains, false> : busy_kernel<kChains, true>;
  launch("busy", kernel, stream, shape, busy.rounds, results, records);
}

}  // namespace

void keep_busy(Stream stream, const Busy& busy, float* results, BlockRecord* records) {
  switch (busy.chains) {
    case 1:
      return launch_busy<1>(stream, busy, results, records);
    case 2:
      return launch_busy<2>(stream, busy, results, records);
    case 4:
      return launch_busy<4>(stream, busy, results, records);
    case 8:
      return launch_busy<8>(stream, busy, results, records);
    case 16:
      return launch_busy<16>(stream, busy, results, records);
    case 32:
      return launch_busy<32>(stream, busy, results, records);
    case 64:
      return launch_busy<64>(stream, busy, results, records);
    case 128:
      return launch_busy<128>(stream, busy, results, records);
    default:
      throw InputError("the busy kernel has 1, 2, 4, 8, 16, 32, 64 or 128 chains, not " +
                       std::to_string(busy.chains));
  }
}

}  // namespace trainscope::kernels
