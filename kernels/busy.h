// A kernel that only computes, with knobs for what limits occupancy: the one that lessons about
// blocks, waves and latency are run with. CPU reference: busy_value.
//
// Every thread carries `chains` values, each its own chain of `rounds` multiply-adds, so that more
// chains are more that can run at once. It has as many registers as it is told: what the chains do
// not need holds numbers that nothing ever asks for, which the compiler cannot know. Shared memory
// is asked for and not used. Recording writes when and where each block ran.
#pragma once

#include <cmath>

#include "kernels/device.h"

namespace trainscope::kernels {

struct Busy {
  unsigned blocks = 1;
  unsigned threads = 128;  // of a block
  std::size_t shared_bytes = 0;
  int chains = 4;  // 1, 2, 4, 8 or 16
  int rounds = 1000;
  int registers = 32;  // of a thread, 1 to 255; a GPU gives them by eights, and at least 24 (with
                       // 16 chains 32)
};

// One of a block. Times are the device's own clock (special.cuh): the first thread's start, and
// the end of the last one.
struct BlockRecord {
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t sm = 0;
  std::uint32_t reserved = 0;
};

// `results` has a value for each thread of the grid; `records` one for each block, or is null.
// Throws InputError for another number of chains or registers.
void keep_busy(Stream stream, const Busy& busy, float* results, BlockRecord* records);

// What a thread writes: the sum of its chains. One begins at the thread's number and its own.
inline float busy_value(const Busy& busy, std::size_t thread) {
  float sum = 0;
  for (int chain = 0; chain < busy.chains; ++chain) {
    float value = static_cast<float>(thread % 1024) + static_cast<float>(chain);
    for (int round = 0; round < busy.rounds; ++round) value = std::fma(value, 0.5F, 1.0F);
    sum += value;
  }
  return sum;
}

}  // namespace trainscope::kernels
