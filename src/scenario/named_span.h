// Spans as a lecturer reads them: the one that is asked for, and the one that was chosen.
#pragma once

#include <string>

#include "scenario/answers.h"
#include "scenario/lesson.h"
#include "trace/trace.h"

namespace trainscope::scenario {

std::string name_of(const Focus& asked);        // "held: staging in host main of A"
std::string name_of(const ChosenSpan& chosen);  // the same

// By side, lane and name the chosen one could be meant.
bool is_called_alike(const Focus& asked, const ChosenSpan& chosen);

// "at 6572.121 us in step 4": of the profiler's steps, the last that has begun by then on any rank.
std::string place_in_time(const trace::Trace& trace, Nanos time);

}  // namespace trainscope::scenario
