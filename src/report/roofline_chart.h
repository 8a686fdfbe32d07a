// The kernels of runs on the roofline of their GPU, as a drawing, and the longest of them with what
// they are bound by.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// A section with the kernels of all runs whose arithmetic is known, on one pair of axes. Empty
// where no run has any.
std::string roofline_html(const std::vector<RunView>& views, const PageLimits& limits,
                          const Speech& speech = {});

}  // namespace trainscope::report
