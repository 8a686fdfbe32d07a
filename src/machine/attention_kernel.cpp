#include "machine/attention_kernel.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/whole.h"
#include "machine/gemm_tiles.h"
#include "machine/occupancy.h"
#include "machine/uneven_blocks.h"

namespace trainscope::machine {
namespace {

// Rows that a block has, and of what it goes through at once: queries and keys, backward the other
// way round.
struct Tile {
  std::int64_t rows, steps;
  int threads;
};

// flash-attention's flash_fwd_launch_template.h.
Tile forward_tile(const Gpu& gpu, const AttentionShape& shape) {
  const Architecture& architecture = architecture_of(gpu);
  const bool small = architecture.capability > 80 && architecture.capability < 90;
  if (shape.width <= 64) return {128, 128, 128};
  if (shape.width <= 128 && small && shape.causal) return {64, 64, 128};
  if (shape.width <= 128) return {128, small && shape.width > 96 ? 32 : 64, 128};
  const bool large_blocks = architecture.capability == 80 || shape.width <= 192;
  return large_blocks ? Tile{128, 64, 256} : Tile{64, 64, 128};
}

// Its flash_bwd_launch_template.h: an SM of 8.6 and 8.9 has too little shared memory for the larger
// tiles.
Tile backward_tile(const Gpu& gpu, const AttentionShape& shape) {
  constexpr std::int64_t kOfLarge = 144 * 1024;
  const bool large = architecture_of(gpu).most_shared >= kOfLarge;
  if (shape.width <= 64) return {128, large ? 128 : 64, 256};
  if (shape.width <= 96 || (shape.width <= 128 && large)) return {128, 64, 256};
  return {64, 64, 256};
}

Tile flash_tile(const Gpu& gpu, const AttentionShape& shape) {
  return shape.backward ? backward_tile(gpu, shape) : forward_tile(gpu, shape);
}

// PyTorch's mem_eff_attention/kernel_forward.h.
Tile efficient_tile(const AttentionShape& shape) {
  return {64, 64, shape.backward ? 256 : 128};
}

// Q, K and V; backward two stages of Q, the output's gradient, and what it has of the scores.
std::int64_t shared_bytes(const AttentionShape& shape, const Tile& tile) {
  const std::int64_t numbers =
      shape.backward ? (3 * tile.steps + 2 * tile.rows) * shape.width + 2 * tile.rows * tile.steps
                     : (tile.rows + 2 * tile.steps) * shape.width;
  return numbers * shape.element_bytes;
}

// Tiles that each block of a head computes, in the order in which they begin: whole ones, those of
// a mask's diagonal included. Forward the longest come last, backward first.
std::vector<std::int64_t> tiles_of(const AttentionShape& shape, const Tile& tile) {
  const std::int64_t all = ceil_div(shape.length, tile.steps);
  std::vector<std::int64_t> tiles(static_cast<std::size_t>(ceil_div(shape.length, tile.rows)), all);
  if (!shape.causal) return tiles;
  std::int64_t row = 0;
  for (std::int64_t& count : tiles) {
    count = shape.backward ? all - row / tile.steps
                           : std::min(all, ceil_div(row + tile.rows, tile.steps));
    row += tile.rows;
  }
  return tiles;
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

// Seconds of the whole GPU for a result of each score, at so many that an SM has a cycle.
double each_score(const Gpu& gpu, double a_cycle) {
  return 1 / (a_cycle * gpu.sm_count * gpu.boost_clock_hz);
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
  return flops_of(padded, shape.backward ? 5 : 2) / rate + each_score(gpu, kExponentials);
}

// Of a score in a tile of the mask's diagonal, besides: a comparison of its two places, and a
// choice by it, each at the 64 results a cycle that the guide has for comparisons.
double mask_seconds(const Gpu& gpu) {
  constexpr double kComparisons = 64;
  return 2 * each_score(gpu, kComparisons);
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

// Seconds of the kernel, blocks that end unevenly among them.
double flash_kernel_seconds(const Gpu& gpu, const AttentionShape& shape, const Tile& tile,
                            const AttentionPlan& plan) {
  const double score = flash_seconds(gpu, shape);
  const double of_sm = score * of(tile.rows * tile.steps) * gpu.sm_count;  // a tile
  // A block begins with nothing to compute until its first tiles are there: as long as one takes
  // (assumed).
  double more = 1;
  if (shape.causal) more += of(ceil_div(tile.rows, tile.steps)) * mask_seconds(gpu) / score;
  std::vector<double> lengths;
  for (const std::int64_t tiles : tiles_of(shape, tile)) lengths.push_back(of(tiles) + more);
  if (!shape.causal)  // all alike
    return of_sm * lengths.front() * of(ceil_div(plan.blocks, gpu.sm_count));
  LaunchShape launch;
  launch.threads = plan.threads;
  launch.registers = plan.registers;
  launch.dynamic_shared = std::min(plan.shared_bytes, architecture_of(gpu).most_shared);
  const int each = std::max(1, occupancy(gpu, launch).blocks_per_sm);
  return of_sm * grid_time(lengths, shape.heads, {gpu.sm_count, each});
}

}  // namespace

bool has_flash_attention(const Gpu& gpu, Math math) {
  return architecture_of(gpu).capability >= 80 && math == Math::kTensorFp16;
}

AttentionPlan plan_attention(const Gpu& gpu, const AttentionShape& shape) {
  const bool flash = has_flash_attention(gpu, shape.math);
  const Tile tile = flash ? flash_tile(gpu, shape) : efficient_tile(shape);
  AttentionPlan plan;
  plan.blocks = shape.heads * ceil_div(shape.length, tile.rows);
  plan.threads = tile.threads;
  plan.shared_bytes = shared_bytes(shape, tile);
  const std::vector<std::int64_t> tiles = tiles_of(shape, tile);
  const double scores = of(shape.heads) * of(tile.rows * tile.steps) *
                        of(std::accumulate(tiles.begin(), tiles.end(), std::int64_t{0}));
  plan.flops = scores * flops_of(shape, shape.backward ? 5 : 2) / of(plan.blocks);
  // Were they equal, so many would take as long: each SM as many as the one that has the most.
  const double in_waves = of(ceil_div(plan.blocks, gpu.sm_count) * gpu.sm_count);
  plan.seconds = flash ? flash_kernel_seconds(gpu, shape, tile, plan) +
                             (shape.backward ? beside_seconds(gpu, shape) : 0)
                       : scores * efficient_seconds(gpu, shape) * in_waves / of(plan.blocks);
  plan.efficiency = plan.flops * in_waves / (*peak_flops_per_s(gpu, shape.math) * plan.seconds);
  return plan;
}

}  // namespace trainscope::machine
