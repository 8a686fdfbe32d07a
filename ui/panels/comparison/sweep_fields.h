// The fields of a sweep: which knobs, which values, which metric.
#pragma once

#include "ui/panels/comparison/sweep.h"

namespace trainscope::ui {

// Words in the middle of a line as high as its buttons.
void line_words(const Theme& theme, ImFont* font, Color color, const std::string& words);

// Draws at the cursor, in as many lines as they need; true when the sweep is to start.
bool draw_sweep_fields(const PanelContext& context, SweepPanel& panel);

}  // namespace trainscope::ui
