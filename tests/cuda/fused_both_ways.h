// Fused operations on a device, by kernels that read their steps and by those that were compiled
// for them: both are to leave the same bits.
#pragma once

#include <string>
#include <vector>

#include "cuda/device_calls.h"

namespace trainscope::test {

struct BothWays {
  int operations = 0;                  // that were carried out both ways
  std::vector<std::string> differing;  // "buffer x of [parts]: 3 of 120 bytes"
};

// Of numbers in [-1, 1); whole numbers are zero.
BothWays fused_both_ways(cuda::DeviceCalls& device, const program::Program& program);

}  // namespace trainscope::test
