// What of a recorded trace is of none of its measured steps.
#pragma once

#include <string>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// That kernels at its beginning were launched before the profiler recorded, or that the first step
// is left out because it began with a GPU that had nothing to do; sentences, the last without its
// full stop. Empty where neither is so, or no profiler made the trace.
std::string step_caveat(const Measured& measured);

}  // namespace trainscope::analysis
