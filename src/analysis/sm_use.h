// What a run's kernels use of the SMs: for the metrics of occupancy and waves. Only
// runs whose kernels are placed block by block have any of it.
#pragma once

#include <optional>

#include "analysis/measured.h"

namespace trainscope::analysis {

struct SmFacts {
  std::optional<double> theoretical;  // occupancy, as the launch allows it
  std::optional<double> waves;        // of one kernel
  std::optional<double> tail_idle;    // SM time without a block in the last wave, of all
  // While kernels run, in the window:
  std::optional<double> utilization;  // SM time with a block
  std::optional<double> achieved;     // warps on SMs with a block, of those that they could hold
};

// Of the kernel that takes longest, alone on the GPU, but for the last two.
SmFacts sm_facts(const Measured& measured);

}  // namespace trainscope::analysis
