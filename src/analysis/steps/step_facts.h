// The facts of one step after another, each while the part of the trace is there that it is in.
#pragma once

#include <functional>

#include "analysis/steps/facts.h"

namespace trainscope::analysis {

// Calls visit with the facts of every single step, warm-up included: what a series is made of. The
// trace of these facts' `measured` is only the step's part, and gone once visit returns: a metric
// that goes through the trace costs what is in the step, and says what it says of the whole trace.
void for_each_step_facts(const trace::Trace& trace, const program::Program* program,
                         const machine::Machine* machine,
                         const std::function<void(Facts&& facts)>& visit);

}  // namespace trainscope::analysis
