// What is wrong with a span that is not the one asked for, without saying which that is.
#pragma once

#include <string>

#include "analysis/runs/run.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// One sentence in the lesson's language: what of side, lane, line and name, in this order, is the
// first that is another, and what is right before it.
std::string wrong_span(const Lesson& lesson, const Focus& asked, const analysis::Run& run,
                       trace::SpanId chosen);

}  // namespace trainscope::scenario
