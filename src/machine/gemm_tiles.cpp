#include "machine/gemm_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "machine/occupancy.h"

namespace trainscope::machine {
namespace {

struct Tile {
  int m, n;
};

// The usual ones of cuBLAS, from the most reuse of what is loaded to the least (NVIDIA, Matrix
// Multiplication Background User's Guide, 2.3).
constexpr std::array kTiles{Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{256, 64},
                            Tile{64, 256},  Tile{128, 64},  Tile{64, 128},  Tile{64, 64}};

// Of FP32 outside the tensor cores there are narrower ones, too: sgemm_128x32, 32x128 and
// 32x32_sliced1x4, 64x32_sliced1x4, as profiles of linear layers on T4, V100 and A100 name them
// (NeuSight, scripts/asplos/data/dataset, linear.csv). The sliced ones are there for 64 x 32, too,
// turned round (assumed).
constexpr std::array kNarrowTiles{Tile{128, 32}, Tile{32, 128}, Tile{64, 32}, Tile{32, 64},
                                  Tile{32, 32}};

// Products of few rows have kernels of their own, gemv and gemmSN, whose threads sum over k for so
// many rows at once (names in profiles; that they go to 16 rows, in powers of two, have 16 outputs
// a block, and reach what the narrowest tiles do, is assumed: none of the profiles above has fewer
// rows than 13).
constexpr std::array<int, 5> kFewRows{1, 2, 4, 8, 16};
constexpr int kOutputsBeside = 16;

constexpr std::int64_t kSliceBytes = 64;  // of a row of A or B that is in shared memory at once
constexpr std::int64_t kSectorBytes = 32;
constexpr double kMostFlops = 0x1p63;

// Of what FP32's tiles of 128 and more reach, others do, by the times of linear.csv less what
// products of nothing take, 50 us on the A100's host, an A100 PCIe of 40 GB, 60 on the V100's:
//   a side of 128 or more   128x64: 0.85 on an A100, 0.92 on a V100; 128x32: 0.89, 0.84
//   none                    32x32 and 64x32: 0.77, 0.66
constexpr double kOneNarrowSide = 0.88;
constexpr double kTwoNarrowSides = 0.72;
// But in batched products: attention's of heads of 64 reach 0.48 on an A100 80GB PCIe and 0.68 to
// 0.76 on an H100 SXM (labels of NeuSight, scripts/asplos/label, GPT2-Large, 4 sequences of 1024).
constexpr double kNarrowInBatch = 0.6;

// Without tiles in shared memory: what each thread loads is used for its rows alone.
bool has_few_rows(const Tile& tile) {
  return std::min(tile.m, tile.n) <= kFewRows.back();
}

double narrow_share(const Tile& tile, bool batched) {
  if (std::min(tile.m, tile.n) >= 128) return 1;
  if (batched) return kNarrowInBatch;
  return std::max(tile.m, tile.n) >= 128 && !has_few_rows(tile) ? kOneNarrowSide : kTwoNarrowSides;
}

std::int64_t element_bytes(GemmType type) {
  return type == GemmType::kFp16 || type == GemmType::kBf16 ? 2 : 4;
}

void check_sides(std::int64_t m, std::int64_t n, std::int64_t k) {
  for (const auto& [name, side] : {std::pair{"m", m}, std::pair{"n", n}, std::pair{"k", k}})
    if (side < 1)
      throw InputError(fmt::format(
          "a matrix product with {} = {} has nothing to compute; give it at least 1", name, side));
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  if (flops >= kMostFlops)
    throw InputError(fmt::format(
        "a matrix product of {} x {} x {} has more operations than 64 bits count; make it smaller",
        m, n, k));
}

// A tile of at most twice the matrix, either way.
bool fits(const Tile& tile, std::int64_t m, std::int64_t n) {
  return tile.m < 2 * std::max<std::int64_t>(m, 64) && tile.n < 2 * std::max<std::int64_t>(n, 64);
}

// Bytes a cycle that L2 gives one SM: 3133, 7219 and 8986 GB/s of V100, A100 and H100 (table 3 of
// PMC10448217) are 2048, 5120 and 5120 bytes a cycle; as the A100 where nothing is published.
double l2_bytes_per_cycle(const Gpu& gpu) {
  const int capability = architecture_of(gpu).capability;
  if (capability == 70) return 2048.0 / gpu.sm_count;
  if (capability >= 90 && capability < 120) return 5120.0 / gpu.sm_count;
  return 5120.0 / 108;
}

// For each flop that an SM can do in a cycle, the flops whose operands L2 can give it in one.
double supply(const Gpu& gpu, Math math, const Tile& tile, std::int64_t element, Fetched fetched) {
  const double flops_per_cycle = *peak_flops_per_s(gpu, math) / gpu.sm_count / gpu.boost_clock_hz;
  const double loaded =
      (tile.m * fetched.a + tile.n * fetched.b) * static_cast<double>(kSliceBytes);
  const double flops = 2.0 * tile.m * tile.n * static_cast<double>(kSliceBytes / element);
  return l2_bytes_per_cycle(gpu) * flops / loaded / flops_per_cycle;
}

// What of its arithmetic an SM can be fed for: each operand's slice is loaded once a tile.
double fed(const Gpu& gpu, Math math, const Tile& tile, std::int64_t element, Fetched fetched) {
  return std::min(1.0, supply(gpu, math, tile, element, fetched));
}

// Threads that the load and store units of their SMs serve in a cycle, as the figures of an SM in
// NVIDIA's white papers have them: 32 of GV100, GA100 and GH100, 16 of TU102, GA102 and AD102; of
// GB100 and GB202 carried over.
double served_threads(const Gpu& gpu) {
  const int capability = architecture_of(gpu).capability;
  const bool of_data_centre =
      capability == 70 || capability == 80 || (capability >= 90 && capability < 120);
  return of_data_centre ? 32 : 16;
}

// For each flop of a tile at the unit's peak, what loads and stores of its operands take that move
// one number a thread: one of each for every number of both slices.
double moved_one_by_one(const Gpu& gpu, Math math, const Tile& tile) {
  const double flops_per_cycle = *peak_flops_per_s(gpu, math) / gpu.sm_count / gpu.boost_clock_hz;
  const double arithmetic = 2.0 * tile.m * tile.n / flops_per_cycle;
  return 2.0 * (tile.m + tile.n) / served_threads(gpu) / arithmetic;
}

// cuBLAS chooses its kernel by the extents and leading dimensions of A, B and C (README.md of sim).
// Rows of A are k long, or m where it is turned round; those of C are n long, and B's too but where
// B is turned round: forward reads a weight [outputs, inputs], and odd outputs are C's rows alone.
struct Sides {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_turned = false;
  std::int64_t batch = 0;  // products whose rows m are, one below the other; 0: one
  // No tile spans two of a batch.
  std::int64_t rows_of_one() const { return batch > 0 ? std::max<std::int64_t>(m / batch, 1) : m; }
  // Rows of all three begin at multiples of so many bytes.
  bool begin_at(std::int64_t bytes, std::int64_t element) const {
    return (a_turned ? m : k) * element % bytes == 0 && n * element % bytes == 0;
  }
};

GemmPlan plan_with(const Gpu& gpu, const Sides& sides, GemmType type, const Tile& tile) {
  const auto [m, n, k, a_turned, batch] = sides;
  const std::int64_t element = element_bytes(type);
  GemmPlan plan;
  plan.math = unit_for(gpu, type);
  plan.aligned = sides.begin_at(16, element);
  plan.one_by_one = plan.on_tensor_cores() && !sides.begin_at(4, element);
  plan.tile_m = tile.m;
  plan.tile_n = tile.n;
  plan.tiles_m = ((sides.rows_of_one() - 1) / tile.m + 1) * std::max<std::int64_t>(batch, 1);
  plan.tiles_n = (n - 1) / tile.n + 1;
  if (plan.tiles_m > kMostBlocks / plan.tiles_n)
    throw InputError(fmt::format("a {} product of {} x {} has more tiles than the {} of a grid",
                                 name_of(type), m, n, kMostBlocks));
  const TileBlock block = tile_block(gpu, tile.m, tile.n);
  plan.threads = block.threads;
  plan.registers = block.registers;
  plan.shared_bytes = block.shared_bytes;
  // An unaligned slice touches a sector more.
  const double fetched =
      plan.aligned ? 1 : static_cast<double>(kSliceBytes + kSectorBytes) / double{kSliceBytes};
  plan.efficiency = has_few_rows(tile) ? product_share(gpu, plan.math)
                                       : tile_efficiency(gpu, plan.math, tile.m, tile.n, element,
                                                         {fetched, fetched});
  if (plan.math == Math::kFp32) plan.efficiency *= narrow_share(tile, batch > 0);
  if (plan.on_tensor_cores() && !plan.aligned)
    plan.efficiency =
        std::min(plan.efficiency, product_share(gpu, plan.math) * mma_sync_share(gpu));
  if (plan.one_by_one)
    plan.efficiency = 1 / (1 / plan.efficiency + moved_one_by_one(gpu, plan.math, tile));
  const auto rows = static_cast<double>(m), columns = static_cast<double>(n),
             length = static_cast<double>(k);
  plan.flops = 2 * rows * columns * length;
  plan.tile_flops = 2.0 * tile.m * tile.n * length;
  plan.bytes = (rows * length + length * columns + rows * columns) * static_cast<double>(element);
  return plan;
}

// Of k that is cut into parts, each writes its sums in FP32 and another kernel adds them up. That
// goes into the share that its tiles reach.
GemmPlan in_parts(const Gpu& gpu, const Sides& sides, GemmPlan plan, std::int64_t parts) {
  plan.parts = parts;
  if (parts == 1) return plan;
  const double sums =
      static_cast<double>(parts) * 4 * static_cast<double>(sides.m) * static_cast<double>(sides.n);
  const double l2 = l2_bytes_per_cycle(gpu) * gpu.sm_count * gpu.boost_clock_hz;
  const bool stay = sums <= static_cast<double>(gpu.l2_bytes);
  const double rate = (stay ? l2 : gpu.memory_bytes_per_s) * gpu.memory_efficiency;
  const double adding = 2 * sums / rate + static_cast<double>(gpu.kernel_floor_ns) * 1e-9;
  const double waves = waves_of(gpu, plan) * gpu.sm_count / *peak_flops_per_s(gpu, plan.math);
  plan.efficiency *= waves / (waves + adding);
  return plan;
}

// Of a tile, with k whole or in as many parts as there are SMs for, whichever is the quicker.
GemmPlan quicker(const Gpu& gpu, const Sides& sides, const GemmPlan& whole) {
  // FP32's are as short as 68 in linear.csv; on tensor cores assumed: below it a block's start
  // outweighs it.
  const std::int64_t least_part = whole.math == Math::kFp32 && sides.batch == 0 ? 64 : 256;
  const std::int64_t room = std::max<std::int64_t>(1, gpu.sm_count / whole.tiles());
  GemmPlan cut =
      in_parts(gpu, sides, whole, std::clamp<std::int64_t>(sides.k / least_part, 1, room));
  return waves_of(gpu, cut) < waves_of(gpu, whole) ? cut : whole;
}

}  // namespace

std::string_view name_of(GemmType type) {
  constexpr std::array<std::string_view, 4> kNames{"fp32", "tf32", "fp16", "bf16"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string GemmPlan::kernel() const {
  const std::string_view unit = math == Math::kTensorFp16   ? "tensorop_16"
                                : math == Math::kTensorTf32 ? "tensorop_tf32"
                                                            : "simt_fp32";
  return fmt::format("gemm_{}_{}x{}", unit, tile_m, tile_n);
}

Math unit_for(const Gpu& gpu, GemmType type) {
  const int capability = architecture_of(gpu).capability;
  if (type == GemmType::kFp16) return Math::kTensorFp16;
  if (type == GemmType::kBf16 && capability >= 80) return Math::kTensorFp16;
  if (type == GemmType::kTf32 && capability >= 80 && gpu.tf32_flops_per_s > 0)
    return Math::kTensorTf32;
  return Math::kFp32;
}

double mma_sync_share(const Gpu& gpu) {
  // 0.629 of an H100's peak (arXiv:2402.13499; "about two thirds", arXiv:2407.08608). Blackwell's
  // peak is twice that of an SM of Hopper, with tcgen05; mma.sync carried over from there.
  constexpr double kHopper = 0.629;
  const int generation = architecture_of(gpu).capability / 10;
  return generation == 9 ? kHopper : generation == 10 ? kHopper / 2 : 1;
}

double product_share(const Gpu& gpu, Math math) {
  return math == Math::kFp32 && gpu.fp32_gemm_efficiency > 0 ? gpu.fp32_gemm_efficiency
                                                             : gpu.gemm_efficiency;
}

double supplied(const Gpu& gpu, Math math, int tile_m, int tile_n, std::int64_t element_bytes,
                Fetched fetched) {
  const int capability = architecture_of(gpu).capability;
  const double together = capability >= 90 && capability < 120 ? 2 : 1;
  return together * supply(gpu, math, {tile_m, tile_n}, element_bytes, fetched);
}

double tile_efficiency(const Gpu& gpu, Math math, int tile_m, int tile_n,
                       std::int64_t element_bytes, Fetched fetched) {
  return product_share(gpu, math) * fed(gpu, math, {tile_m, tile_n}, element_bytes, fetched) /
         fed(gpu, math, kTiles[0], element_bytes, {});
}

TileBlock tile_block(const Gpu& gpu, int tile_m, int tile_n) {
  const int outputs = tile_m * tile_n;
  TileBlock block;
  block.threads = outputs >= 128 * 128 ? 256 : 128;
  block.registers = outputs / block.threads + 64;
  const int stages = architecture_of(gpu).capability >= 80 ? 3 : 2;
  block.shared_bytes = stages * (tile_m + tile_n) * kSliceBytes;
  return block;
}

GemmPlan plan_tiled(const Gpu& gpu, std::int64_t m, std::int64_t n, std::int64_t k, GemmType type,
                    int tile_m, int tile_n) {
  check_sides(m, n, k);
  return plan_with(gpu, {m, n, k}, type, {tile_m, tile_n});
}

double waves_of(const Gpu& gpu, const GemmPlan& plan) {
  const std::int64_t deep = (plan.blocks() - 1) / gpu.sm_count + 1;
  return static_cast<double>(deep) * plan.tile_flops / static_cast<double>(plan.parts) /
         plan.efficiency;
}

GemmPlan plan_product(const Gpu& gpu, std::int64_t m, std::int64_t n, std::int64_t k, GemmType type,
                      bool a_turned, std::int64_t batch) {
  check_sides(m, n, k);
  const Sides sides{m, n, k, a_turned, batch};
  std::optional<GemmPlan> best;
  const auto consider = [&](const Tile& tile) {
    GemmPlan plan = quicker(gpu, sides, plan_with(gpu, sides, type, tile));
    if (!best || waves_of(gpu, plan) < waves_of(gpu, *best)) best = std::move(plan);
  };
  for (const Tile& tile : kTiles)
    if (fits(tile, sides.rows_of_one(), n)) consider(tile);
  if (unit_for(gpu, type) != Math::kFp32 || batch > 0) return *best;
  for (const Tile& tile : kNarrowTiles) consider(tile);
  for (const int rows : kFewRows) {
    if (m <= rows) consider({rows, kOutputsBeside});
    if (n <= rows) consider({kOutputsBeside, rows});
  }
  return *best;
}

}  // namespace trainscope::machine
