// The first thing one sees when nothing was named: lessons to choose from, a trace to open.
#pragma once

#include "ui/panels/context.h"

namespace trainscope::ui {

void draw_shelf(const PanelContext& context);

}  // namespace trainscope::ui
