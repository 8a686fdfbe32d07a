// The first thing one sees when nothing was named: lessons to choose from, a trace to open.
#pragma once

#include "ui/panels/context.h"

namespace trainscope::ui {

void draw_shelf(const PanelContext& context);

// What that takes below one another, in pixels, the bar above included, once it has been drawn.
float shelf_height(const Theme& theme);

}  // namespace trainscope::ui
