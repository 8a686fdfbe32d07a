// One process that drives several GPUs, whose times a trace does not tell apart.
#pragma once

#include <string>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// That times of a recorded trace are those of all its GPUs together, and how much the one does that
// works least; a sentence without its full stop. Empty where they are one GPU's, or no profiler
// made the trace.
std::string process_caveat(const Measured& measured);

}  // namespace trainscope::analysis
