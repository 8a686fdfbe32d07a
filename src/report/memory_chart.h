// Device memory of runs over time, as drawings: what tensors have, role by role, what the allocator
// holds, and what holds it at the peak.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// A section with the memory of all runs that count it, to the same scales; of each the GPU that is
// the fullest. Of a run of many steps the one of the peak is drawn, with its neighbours. Empty
// where no run's memory comes and goes.
std::string memory_html(const std::vector<RunView>& views, const PageLimits& limits,
                        const Speech& speech = {});

}  // namespace trainscope::report
