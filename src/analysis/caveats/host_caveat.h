// What the trace of a job without a GPU cannot tell.
#pragma once

#include <string>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// "This trace has no work of a GPU, ...; collectives of Gloo are under way for 179 ms", of a step
// where there are steps. Empty for a trace with work of a GPU, and for one that no profiler made.
std::string host_caveat(const Measured& measured);

}  // namespace trainscope::analysis
