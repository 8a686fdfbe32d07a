// A kernel alone on a GPU, block by block: its waves, its tail, what of the SMs it uses. For views
// of the SM array, and for metrics. L2 holds what its own footprint leaves there, nothing of other
// kernels. It costs as much as two waves, however many blocks there are.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/occupancy.h"
#include "program/program.h"
#include "sim/sm_array.h"

namespace trainscope::sim {

// The blocks that are placed at once: they begin together. Times count from the kernel's start.
struct Wave {
  Nanos start = 0;
  Nanos end = 0;  // of its last block
  std::int64_t first_block = 0;
  std::int64_t blocks = 0;
  int sms = 0;  // that get one
};

// One block: where it ran and when.
struct BlockBar {
  std::int64_t block = 0;  // in the grid
  std::int64_t wave = 0;   // from 0
  int sm = 0;
  int slot = 0;  // of the SM's residency, from 0
  Nanos start = 0;
  Nanos end = 0;
};

struct SmRun {
  machine::Occupancy occupancy;
  int sms = 0;                     // of the GPU
  std::int64_t blocks = 0;         // of the grid
  std::int64_t blocks_a_wave = 0;  // of a full one
  std::int64_t waves = 0;
  Nanos full_wave = 0;        // length of each wave but the last
  Nanos last_wave = 0;        // of the last, full or not
  Nanos last_wave_light = 0;  // until those SMs of it are done that have a block less; 0: none
  Nanos duration = 0;         // of all waves
  Nanos kernel = 0;           // of the kernel: as long, but no less than its shortest time
  SmUse use;
  double tail_idle = 0;  // SM time without a block in the last wave, of all SM time

  Wave wave(std::int64_t index) const;     // 0 .. waves-1
  BlockBar bar(std::int64_t block) const;  // 0 .. blocks-1
  // The bars of blocks first .. first+count-1, or to the end of the grid; costs O(count).
  std::vector<BlockBar> bars(std::int64_t first, std::int64_t count) const;
};

// Throws InputError as block_cost does.
SmRun run_alone(const program::Operation& operation, const machine::Gpu& gpu);

// The same of any cost, for tests; `occupancy` is left empty.
SmRun run_alone(const BlockCost& cost, std::int64_t blocks, const SmLimits& limits);

}  // namespace trainscope::sim
