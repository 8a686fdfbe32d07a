// Launches of a recorded trace whose work is not in it.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

struct LostKernels {
  std::size_t launches = 0;  // of kernels and graphs, of all ranks
  std::size_t lost = 0;      // of these, those that no work of a GPU belongs to

  // Too many of them for a replay, or the GPU's times, to be worth anything: more than a tenth.
  bool are_too_many() const { return 10 * lost > launches; }
};

// None where the trace has no work that belongs to a call at all.
LostKernels lost_kernels(const trace::Trace& trace);

// That the work of some launches is missing, where it is a hundredth of them and more; a sentence
// without its full stop. Empty otherwise, and where no profiler made the trace.
std::string lost_kernels_caveat(const Measured& measured);

}  // namespace trainscope::analysis
