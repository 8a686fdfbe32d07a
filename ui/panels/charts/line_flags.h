// Letters beside upright lines of a chart, each on a small flag that is on no curve, no words and
// no other line where there is such a place. Pure.
#pragma once

#include <vector>

#include "ui/app/window/shapes.h"

namespace trainscope::ui {

// A flag of that size for each of the lines, in their order: beside it, as far up as it can be.
std::vector<Box> place_flags(const Box& chart, const std::vector<float>& lines, ImVec2 size,
                             const std::vector<Box>& taken);

}  // namespace trainscope::ui
