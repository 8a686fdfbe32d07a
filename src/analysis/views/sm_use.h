// What a run's kernels use of the SMs: for the metrics of occupancy and waves. Only
// runs whose kernels are placed block by block have any of it.
#pragma once

#include <optional>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

struct SmFacts {
  std::optional<double> theoretical;  // occupancy, as the launch allows it
  std::optional<double> waves;        // of one kernel
  std::optional<double> tail_idle;    // SM time without a block in the last wave, of all
  // In the window: while kernels run, SM time with a block; while this one runs, warps on SMs with
  // a block, of those that they could hold.
  std::optional<double> utilization;
  std::optional<double> achieved;
};

// Of the kernel that takes longest, alone on the GPU, but for the last two: of all, and with those
// that run beside it.
SmFacts sm_facts(const Measured& measured);

}  // namespace trainscope::analysis
