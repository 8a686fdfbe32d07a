// The kernels of a run that are placed block by block on the SMs of a GPU, and what each carries
// out.
#pragma once

#include <optional>
#include <vector>

#include "analysis/runs/run.h"

namespace trainscope::analysis {

struct PlacedKernel {
  Nanos time = 0;  // it begins
  trace::SpanId span = trace::kNone;
  program::Index operation = 0;  // of the run's program
};

// By start; of all GPUs. Empty where the run has no program.
std::vector<PlacedKernel> placed_kernels(const Run& run);

// The operation whose kernels take the most time of the GPU that metrics are about, in the measured
// window, of those that are placed block by block.
struct LongestPlaced {
  program::Index operation = 0;
  std::int64_t launches = 0;
  Nanos time = 0;    // of its kernels
  Nanos of_all = 0;  // of all kernels that are placed block by block
};
std::optional<LongestPlaced> longest_placed(const Run& run);

}  // namespace trainscope::analysis
