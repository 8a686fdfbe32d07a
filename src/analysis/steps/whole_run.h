// From when to when a trace's run goes.
#pragma once

#include "analysis/steps/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// From its first event to its last. What stands beside the run counts only where there is nothing
// else; {} where there is no event.
Interval whole_of(const trace::Trace& trace);

}  // namespace trainscope::analysis
