// Occupancy: how many blocks of a kernel an SM holds at once, and what keeps it from holding more.
//
// The rules are CUDA's own, as its header cuda_occupancy.h (CUDA 13.0) states them for compute
// capability 7.0 to 12.0. Sizes are bytes, of one block. No function here needs a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"

namespace trainscope::machine {

// How a kernel is launched, as far as an SM cares.
struct LaunchShape {
  std::int64_t blocks = 1;          // of the grid
  int threads = 256;                // of a block
  int registers = 32;               // of a thread
  std::int64_t static_shared = 0;   // declared in the kernel
  std::int64_t dynamic_shared = 0;  // asked for at the launch
  int cluster = 1;                  // blocks of a cluster
  // Share of the SM's on-chip memory that is preferred as shared memory, in percent; -1: CUDA's
  // default, all of it.
  int carve_out = -1;
};

enum class Limiter : std::uint8_t { kWarps, kRegisters, kSharedMemory, kBlocks };
std::string_view name_of(Limiter limiter);  // "warps", "registers", "shared memory", "blocks"

struct Occupancy {
  int blocks_per_sm = 0;  // 0: a block asks for more than an SM has
  int warps_per_block = 0;
  int warps_per_sm = 0;    // of the blocks that it holds
  int most_warps = 0;      // that it could hold
  double theoretical = 0;  // warps_per_sm / most_warps
  // Blocks that each resource alone would allow; kNoLimit: the kernel uses none of it.
  static constexpr int kNoLimit = INT32_MAX;
  int by_warps = 0;
  int by_registers = 0;
  int by_shared = 0;
  int by_blocks = 0;
  std::vector<Limiter> limiters;     // those that allow the fewest, in the order above
  std::int64_t block_registers = 0;  // given to a block
  std::int64_t block_shared = 0;     // given to a block, CUDA's own part included
  std::int64_t sm_shared = 0;        // that the SM has been set to
};

// Throws InputError for a shape that no GPU could launch (threads, registers, grid, cluster) or a
// GPU that is not known. A block too large for an SM's registers or shared memory gives 0 blocks.
Occupancy occupancy(const Gpu& gpu, const LaunchShape& shape);

// Throws InputError naming the limit, its value and the GPU, with CUDA's own error, where
// cudaLaunchKernel would refuse the launch.
void check_launch(const Gpu& gpu, const LaunchShape& shape);

// Blocks of the whole GPU at once, and the rounds that a grid needs: blocks / that, rounded up.
std::int64_t blocks_at_once(const Gpu& gpu, const Occupancy& occupancy);
std::int64_t waves(const Gpu& gpu, const LaunchShape& shape, const Occupancy& occupancy);

}  // namespace trainscope::machine
