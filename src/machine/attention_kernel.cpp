#include "machine/attention_kernel.h"

#include <algorithm>

#include "machine/gemm_tiles.h"

namespace trainscope::machine {
namespace {

double of(std::int64_t count) {
  return static_cast<double>(count);
}
std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Rows that a block has, and of what it goes through at once: queries and keys, backward the other
// way round.
struct Tile {
  std::int64_t rows, steps;
};

// flash-attention's flash_fwd_launch_template.h and flash_bwd_launch_template.h; PyTorch's
// mem_eff_attention/kernel_forward.h.
Tile tile_of(bool flash, const AttentionShape& shape) {
  if (!flash) return {64, 64};
  return {128, shape.width <= 64 ? 128 : 64};
}

// Scores that all blocks of a head compute: whole tiles, those of a mask's diagonal included.
double scores_of(const AttentionShape& shape, const Tile& tile) {
  const std::int64_t blocks = ceil_div(shape.length, tile.rows);
  const std::int64_t all = ceil_div(shape.length, tile.steps);
  std::int64_t tiles = 0;
  for (std::int64_t block = 1; block <= blocks; ++block)
    tiles += shape.causal ? std::min(all, ceil_div(block * tile.rows, tile.steps)) : all;
  return of(tiles * tile.rows * tile.steps);
}

// Of a score, in operations.
double flops_of(const AttentionShape& shape, int products) {
  return 2.0 * products * of(shape.width);
}

double product_rate(const Gpu& gpu, Math math) {
  return *peak_flops_per_s(gpu, math) * product_share(gpu, math);
}

double memory_rate(const Gpu& gpu) {
  return gpu.memory_bytes_per_s * gpu.memory_efficiency;
}

// Of the rate of products, what the five of FlashAttention-2's backward reach, which keep shared
// memory busier: fitted to flash-attention#2688 (H100) and #1589 (B200), to the 63 % of an A100's
// peak that its paper tells of, and to a 4090 (apache/tvm, tl_doc/flash_perf.md).
double backward_share(const Gpu& gpu) {
  const int capability = architecture_of(gpu).capability;
  if (capability >= 90 && capability < 120) return 0.67;
  return capability == 80 ? 0.78 : 0.93;
}

// Seconds of the whole GPU for a score. The exponential comes on top of the products, at the 16
// results a cycle that an SM has (CUDA C++ programming guide, throughput of native arithmetic
// instructions).
double flash_seconds(const Gpu& gpu, const AttentionShape& shape) {
  constexpr std::int64_t kWidths = 32;  // heads are padded to multiples of it
  constexpr double kExponentials = 16;
  AttentionShape padded = shape;
  padded.width = ceil_div(shape.width, kWidths) * kWidths;
  const double rate = product_rate(gpu, shape.math) * mma_sync_share(gpu) *
                      (shape.backward ? backward_share(gpu) : 1);
  return flops_of(padded, shape.backward ? 5 : 2) / rate +
         1 / (kExponentials * gpu.sm_count * gpu.boost_clock_hz);
}

// The two kernels beside backward's: one reads the output and its gradient and clears sums in FP32,
// one turns those into the gradient of the queries.
double beside_seconds(const Gpu& gpu, const AttentionShape& shape) {
  const double numbers = of(shape.heads * shape.length * shape.width);
  return numbers * of(3 * shape.element_bytes + 2 * 4) / memory_rate(gpu);
}

// The memory-efficient kernel against attention with scores in memory, products and softmax:
// medians of facebookresearch/xformers#362 on a V100.
double efficient_seconds(const Gpu& gpu, const AttentionShape& shape) {
  constexpr double kForward = 1.05, kBackward = 1.15, kBackwardFp32 = 1.30;
  const bool narrow = shape.element_bytes < 4;
  const int products = shape.backward ? 4 : 2;
  const int passes = shape.backward ? 7 : 4;  // over the scores
  const double vanilla = flops_of(shape, products) / product_rate(gpu, shape.math) +
                         of(passes * shape.element_bytes) / memory_rate(gpu);
  return vanilla * (!shape.backward ? kForward : narrow ? kBackward : kBackwardFp32);
}

}  // namespace

bool has_flash_attention(const Gpu& gpu, Math math) {
  return architecture_of(gpu).capability >= 80 && math == Math::kTensorFp16;
}

AttentionPlan plan_attention(const Gpu& gpu, const AttentionShape& shape) {
  const bool flash = has_flash_attention(gpu, shape.math);
  const Tile tile = tile_of(flash, shape);
  AttentionPlan plan;
  plan.blocks = shape.heads * ceil_div(shape.length, tile.rows);
  plan.threads = shape.backward ? 256 : 128;
  // Q, K and V; backward the gradients of K and V beside them.
  plan.shared_bytes = (shape.backward ? 4 : 3) * tile.rows * shape.width * shape.element_bytes;
  const double scores = of(shape.heads) * scores_of(shape, tile);
  double seconds = scores * efficient_seconds(gpu, shape);
  if (flash) {
    // A block begins with nothing to compute until its first tiles are there: as long as one takes
    // (assumed).
    const double filling = of(plan.blocks * tile.rows * tile.steps);
    seconds = (scores + filling) * flash_seconds(gpu, shape) +
              (shape.backward ? beside_seconds(gpu, shape) : 0);
  }
  const double flops = scores * flops_of(shape, shape.backward ? 5 : 2);
  plan.flops = flops / of(plan.blocks);
  plan.efficiency = flops / (*peak_flops_per_s(gpu, shape.math) * seconds);
  return plan;
}

}  // namespace trainscope::machine
