// Lanes of marks of steps that a timeline need not show.
#pragma once

#include <vector>

#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::trace {

// Lanes that have the marks of steps of the first such lane, and of what lies between steps, and
// nothing else, as those of ranks that do the same at once: each begins and ends where that one
// does, but for a hundredth of its length.
std::vector<LaneId> repeated_mark_lanes(const Trace& trace, const TraceIndex& index);

}  // namespace trainscope::trace
