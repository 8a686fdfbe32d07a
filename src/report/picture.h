// The timelines as a drawing (SVG) that needs no script: all runs on one axis, whole range.
#pragma once

#include <string>
#include <vector>

#include "report/run_view.h"

namespace trainscope::report {

// `width` in units of the drawing: letters are 12 high, so that a narrower one is read more easily.
std::string picture_svg(const std::vector<RunView>& views, double width = 1200);

}  // namespace trainscope::report
