// The waterfall: A's time, one bar for each cause of the difference, B's time.
#pragma once

#include <limits>

#include "ui/app/views/comparison.h"
#include "ui/app/window/theme.h"

namespace trainscope::ui {

// Fills the rest of the region. Of the causes the first `causes` are shown, and B's time once all
// are.
void draw_waterfall(const Theme& theme, const Comparison& comparison,
                    std::size_t causes = std::numeric_limits<std::size_t>::max());

// The colour of a part of time.
CategoryStyle part_style(const Theme& theme, analysis::Part part);

}  // namespace trainscope::ui
