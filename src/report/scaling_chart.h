// Loss scaling of training runs, as drawings: the scale over the steps, and where the gradients of
// one step lie on FP16's number line, before they are scaled and after.
#pragma once

#include <string>
#include <vector>

#include "base/speech.h"
#include "report/run_view.h"

namespace trainscope::report {

// A section with all runs that scale their loss or train in a narrow type, to the same scales; the
// gradients are those of the last step whose update was not skipped. Empty where no run does.
std::string scaling_html(const std::vector<RunView>& views, const PageLimits& limits,
                         const Speech& speech = {});

}  // namespace trainscope::report
