// What one can do on a lesson's step: one primary button, the rest as links.
#pragma once

#include "ui/panels/context.h"

namespace trainscope::ui {

// At the cursor, on as many lines as they need.
void draw_lesson_buttons(const PanelContext& context);

}  // namespace trainscope::ui
