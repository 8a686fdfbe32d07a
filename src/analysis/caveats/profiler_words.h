// What a profiler has of the host's time, in words.
#pragma once

#include <string>

#include "analysis/runs/run.h"
#include "base/speech.h"

namespace trainscope::analysis {

// Of an imported trace, behind what its host is busy with: "; 2,869 operators and calls a step are
// recorded, 32.1 us each on average, the profiler's own time included …". Empty for any other run.
std::string profiler_words(const Run& run, const Speech& speech);

// "Time a step without the profiler first." Empty likewise.
std::string profiler_advice(const Run& run, const Speech& speech);

}  // namespace trainscope::analysis
