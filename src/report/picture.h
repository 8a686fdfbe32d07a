// The timelines as a drawing (SVG) that needs no script: all runs on one axis, whole range.
#pragma once

#include <string>
#include <vector>

#include "report/run_view.h"

namespace trainscope::report {

std::string picture_svg(const std::vector<RunView>& views);

}  // namespace trainscope::report
