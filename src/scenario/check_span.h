// What `trainscope check` says of a span that a lesson points at and that is not there.
#pragma once

#include <string>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// A sentence that names the lanes, or the spans in that lane, which the run has, and the nearest of
// them. Empty: the span is there. `where` names the run in it: "t4-1".
std::string missing_span(const Focus& focus, const analysis::Run& run, const std::string& where);

}  // namespace trainscope::scenario
