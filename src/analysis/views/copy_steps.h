// Which steps copies are of.
#pragma once

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// The time in which calls are of the measured steps, by the marks of the process whose times these
// are: a host that runs ahead calls for a copy long before the GPU comes to its step, and the copy
// may be done by then. All times where there are no steps.
Interval calls_of_steps(const Measured& measured);

// How many of the measured steps the copies of one direction are of, at least 1. A loop that
// fetches the next batch ahead copies to the GPU in each step but its last, for which no batch is
// left: steps at the end that call for no copy to the GPU, where each before them does, are not
// counted.
int steps_of_copies(const Measured& measured, trace::Category direction);

}  // namespace trainscope::analysis
