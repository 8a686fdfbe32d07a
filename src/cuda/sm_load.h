// What SMs hold at each time, from what kernels wrote of their own blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/activity.h"

namespace trainscope::cuda {

// A launch on the trace's clock, and its blocks on the device's.
struct TimedBlocks {
  Nanos begin = 0;
  Nanos end = 0;
  int warps = 0;  // of one block
  std::span<const BlockRecord> blocks;
};

// From `time` until that of the next.
struct SmLoad {
  Nanos time = 0;
  std::int64_t sms = 0;  // with a block
  std::int64_t warps = 0;
  bool operator==(const SmLoad&) const = default;
};

// Of one device, ordered by time, no time twice; the last holds nothing.
//
// The device's clock has a zero of its own and, on many GPUs, a step of a microsecond: the first
// block of a launch begins where the launch does, the last ends where it ends, and the others lie
// between in proportion.
std::vector<SmLoad> sm_load(const std::vector<TimedBlocks>& launches);

}  // namespace trainscope::cuda
