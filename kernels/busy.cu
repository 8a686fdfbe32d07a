#include "kernels/busy.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "kernels/special.cuh"

namespace trainscope::kernels {
namespace {

// Rounds between two looks at whether the numbers that are held are wanted.
constexpr int kTogether = 128;
// Of what is left behind those.
constexpr int kFew = 8;
// Rounds in a row without counting: else counting them takes as many instructions as they do.
template <int kChains>
constexpr int kUnrolled = std::min(32, kTogether / kChains);

template <int kRounds, int kChains>
__device__ void advance(float (&values)[kChains]) {
  TRAINSCOPE_UNROLLED
  for (int round = 0; round < kRounds; ++round) {
    TRAINSCOPE_UNROLLED
    for (int chain = 0; chain < kChains; ++chain) {
      values[chain] = fmaf(values[chain], 0.5F, 1.0F);
    }
  }
}

// `never` is below 0.
template <int kChains, int kHeld>
__device__ float run_chains(std::size_t thread, int rounds, int never) {
  float held[kHeld > 0 ? kHeld : 1] = {};
  for (int i = 0; i < kHeld; ++i) held[i] = static_cast<float>(i);
  float values[kChains];
  for (int chain = 0; chain < kChains; ++chain) {
    values[chain] = static_cast<float>(thread % 1024) + static_cast<float>(chain);
  }
  int done = 0;
  TRAINSCOPE_ONE_AT_A_TIME
  for (; rounds - done >= kTogether; done += kTogether) {
    TRAINSCOPE_ONE_AT_A_TIME
    for (int part = 0; part < kTogether / kUnrolled<kChains>; ++part) {
      advance<kUnrolled<kChains>>(values);
    }
    if (done != never) continue;
    for (int i = 0; i < kHeld; ++i) held[i] = fmaf(held[i], values[0], 1.0F);
  }
  TRAINSCOPE_ONE_AT_A_TIME
  for (; rounds - done >= kFew; done += kFew) advance<kFew>(values);
  TRAINSCOPE_ONE_AT_A_TIME
  for (; done < rounds; ++done) advance<1>(values);
  float sum = 0;
  for (const float value : values) sum += value;
  if (never < 0) return sum;
  for (const float value : held) sum += value;
  return sum;
}

// Beside the chains a thread has addresses, counters and what recording needs.
constexpr int kOthers = 8;

template <int kChains, int kRegisters>
__global__ void __maxnreg__(kRegisters)
    busy_kernel(int rounds, int never, float* results, BlockRecord* records) {
  constexpr int kHeld = kRegisters > kChains + kOthers ? kRegisters - kChains - kOthers : 0;
  std::uint64_t start = 0;
  if (threadIdx.x == 0) start = nanoseconds();
  const std::size_t thread = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  results[thread] = run_chains<kChains, kHeld>(thread, rounds, never);
  if (records == nullptr) return;
  const int arrived = __syncthreads_count(1);
  if (threadIdx.x != 0) return;
  records[blockIdx.x] = {start, nanoseconds_after(arrived), sm_number(), 0};
}

using Kernel = void (*)(int, int, float*, BlockRecord*);

// By eights, as a GPU gives them; 256 are one more than an instruction can name.
constexpr int kStep = 8;
constexpr int kMost = 255;

template <int kChains>
constexpr int kLeast = kChains < 16 ? 24 : 32;

// The kernels of so many chains, from the least registers on.
template <int kChains, std::size_t... kSteps>
Kernel kernel_of(int registers, std::index_sequence<kSteps...>) {
  static constexpr Kernel kKernels[] = {
      busy_kernel<kChains, std::min(kMost, kLeast<kChains> + kStep * int{kSteps})>...};
  const int more = std::max(0, registers - kLeast<kChains>);
  return kKernels[(more + kStep - 1) / kStep];
}

template <int kChains>
Kernel kernel_of(int registers) {
  constexpr int kCount = (kMost + 1 - kLeast<kChains>) / kStep + 1;
  return kernel_of<kChains>(registers, std::make_index_sequence<kCount>());
}

Kernel kernel_of(const Busy& busy) {
  switch (busy.chains) {
    case 1:
      return kernel_of<1>(busy.registers);
    case 2:
      return kernel_of<2>(busy.registers);
    case 4:
      return kernel_of<4>(busy.registers);
    case 8:
      return kernel_of<8>(busy.registers);
    case 16:
      return kernel_of<16>(busy.registers);
    default:
      throw InputError("the busy kernel has 1, 2, 4, 8 or 16 chains, not " +
                       std::to_string(busy.chains));
  }
}

}  // namespace

void keep_busy(Stream stream, const Busy& busy, float* results, BlockRecord* records) {
  if (busy.registers < 1 || busy.registers > kMost)
    throw InputError("a thread has 1 to 255 registers, not " + std::to_string(busy.registers));
  constexpr int kNever = -1;
  const Shape shape{{busy.blocks, 1, 1}, {busy.threads, 1, 1}, busy.shared_bytes};
  launch("busy", kernel_of(busy), stream, shape, busy.rounds, kNever, results, records);
}

}  // namespace trainscope::kernels
