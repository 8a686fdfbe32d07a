// The waterfall: A's time, one bar for each cause of the difference, B's time.
#pragma once

#include "ui/app/comparison.h"
#include "ui/app/theme.h"

namespace trainscope::ui {

// Fills the rest of the region.
void draw_waterfall(const Theme& theme, const Comparison& comparison);

// The colour of a part of time.
CategoryStyle part_style(const Theme& theme, analysis::Part part);

}  // namespace trainscope::ui
