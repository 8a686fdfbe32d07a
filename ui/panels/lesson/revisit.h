// On a lesson's last card: a question of an earlier one that was missed, asked again.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// At the cursor; nothing where there is none to ask.
void draw_revisit(const PanelContext& context);

}  // namespace trainscope::ui
