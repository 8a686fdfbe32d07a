// How a matrix product C[m,n] = A[m,k] B[k,n] is cut into tiles, one block each, and what of the
// GPU's arithmetic such a kernel reaches. The choice follows cuBLAS's in kind, not kernel by
// kernel: README.md of src/sim has the rules and their sources.
#pragma once

#include <cstdint>
#include <string>

#include "machine/architecture.h"
#include "machine/machine.h"

namespace trainscope::machine {

enum class GemmType : std::uint8_t { kFp32, kTf32, kFp16, kBf16 };
std::string_view name_of(GemmType type);  // "fp16", as in the knobs

struct GemmPlan {
  Math math = Math::kFp32;  // a tensor type only where the GPU has the unit
  // Rows begin at multiples of 16 bytes, as tensor cores are fed best.
  bool aligned = true;
  // Rows of 16-bit numbers begin at odd places, where nothing copies pieces of them: each number
  // goes to shared memory through a register.
  bool one_by_one = false;
  int tile_m = 0, tile_n = 0;
  std::int64_t tiles_m = 0, tiles_n = 0;
  std::int64_t parts = 1;         // that k is cut into, one block each: split-K
  int threads = 0;                // of a block
  int registers = 0;              // of a thread
  std::int64_t shared_bytes = 0;  // of a block
  double efficiency = 0;  // share of the unit's peak that a full tile reaches, less what it takes
                          // to add up the parts of k
  double flops = 0;       // 2 m n k
  double tile_flops = 0;  // of one tile, its padding included, all of k
  double bytes = 0;       // A and B read once, C written once

  std::int64_t tiles() const { return tiles_m * tiles_n; }
  std::int64_t blocks() const { return tiles() * parts; }
  bool on_tensor_cores() const { return math == Math::kTensorFp16 || math == Math::kTensorTf32; }
  std::string kernel() const;  // "gemm_fp16_256x128"
};

// The unit that products of this type run on.
Math unit_for(const Gpu& gpu, GemmType type);

// Of what the fastest instructions of the tensor cores reach, what mma.sync does: all of it where
// it is the only one; on Hopper and Blackwell of data centres less than wgmma and tcgen05. Kernels
// written for older GPUs multiply by it: FlashAttention-2, and those that cuBLAS has for rows that
// do not begin at multiples of 16 bytes.
double mma_sync_share(const Gpu& gpu);

// Share of the unit's peak that large products reach: gemm_efficiency, or what the GPU's file says
// of FP32 outside the tensor cores.
double product_share(const Gpu& gpu, Math math);

// Bytes that come from L2 for each byte of an operand that a tile needs.
struct Fetched {
  double a = 1, b = 1;
};

// What L2 can feed of the unit's arithmetic with tiles of tile_m x tile_n outputs, at its published
// rate; above 1 where it feeds more than there is. Each operand's slice is loaded once a tile; on
// Hopper and Blackwell of data centres once for two blocks of a cluster (multicast; assumed: both
// operands).
double supplied(const Gpu& gpu, Math math, int tile_m, int tile_n, std::int64_t element_bytes,
                Fetched fetched);

// Share of the unit's peak that a full tile of tile_m x tile_n outputs reaches: product_share,
// which is of large products, times what L2 can feed of it in proportion to the largest
// tile.
double tile_efficiency(const Gpu& gpu, Math math, int tile_m, int tile_n,
                       std::int64_t element_bytes, Fetched fetched);

// In tiles of that size. Throws InputError for a side below 1, for more arithmetic than 64 bits
// count, and for more tiles than a grid has room for.
GemmPlan plan_tiled(const Gpu& gpu, std::int64_t m, std::int64_t n, std::int64_t k, GemmType type,
                    int tile_m, int tile_n);

// The same in the tiles whose waves take the least time, k cut into parts of at least 256, in FP32
// 64, where tiles leave SMs idle and that is the quicker, with the time to add up the parts: what a
// heuristic is for that compares candidates, as cuBLAS's for its many sizes does (assumed).
// `a_turned`: A lies turned round, its rows in memory m long, not k, as a weight's gradient reads
// that of the results. `batch`: the m rows are those of so many equal products, each with a B of
// its own, and no tile has rows of two; 0: of one alone.
GemmPlan plan_product(const Gpu& gpu, std::int64_t m, std::int64_t n, std::int64_t k, GemmType type,
                      bool a_turned = false, std::int64_t batch = 0);

// Of a plan's waves, in operations of one SM at its peak: compares plans of one GPU's unit.
double waves_of(const Gpu& gpu, const GemmPlan& plan);

// Threads, registers a thread and shared memory of a block that computes such a tile: accumulators
// are spread over the threads, 64 registers beside them are assumed; three slices of A and B, two
// before 8.0.
struct TileBlock {
  int threads = 0;
  int registers = 0;
  std::int64_t shared_bytes = 0;
};
TileBlock tile_block(const Gpu& gpu, int tile_m, int tile_n);

}  // namespace trainscope::machine
