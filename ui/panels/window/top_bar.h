// The bar above the panels: what is open, playback, where the numbers come from, "Find an action".
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

void draw_top_bar(const PanelContext& context);

}  // namespace trainscope::ui
