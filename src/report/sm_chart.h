// Where the blocks of runs' kernels are on the SMs and when, as drawings coloured by wave, with the
// occupancy that the launch allows and what limits it.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// A section with the kernel of each run that takes the most GPU time, of those that are placed
// block by block. They are placed by the model's rules, also of a run that was measured. Empty
// where no run has such kernels.
std::string sm_html(const std::vector<RunView>& views, const Speech& speech = {});

}  // namespace trainscope::report
