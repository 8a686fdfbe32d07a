// A metric among others to choose from, as all panels name it.
#pragma once

#include "analysis/metrics/metrics.h"

namespace trainscope::ui {

// "step time"; under the mouse its name on the command line and its help. True when it is chosen.
bool metric_line(const analysis::Metric& metric, bool is_chosen);

}  // namespace trainscope::ui
