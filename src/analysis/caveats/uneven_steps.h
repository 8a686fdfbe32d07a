// Measured steps of a recorded trace that are not alike.
#pragma once

#include <string>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// That some of them take half as long again as the middle one and more, and what the profiler
// recorded as overhead in them; a sentence without its full stop. Empty where none does, there are
// fewer than three, or no profiler made the trace.
std::string uneven_steps_caveat(const Measured& measured);

// That the profiler rested between its steps, of which only those between two rests are measured; a
// sentence without its full stop. Empty where it did not.
std::string resting_caveat(const Measured& measured);

}  // namespace trainscope::analysis
