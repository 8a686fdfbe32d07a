// The tour's cards over the window: the rest is dimmed, what is meant is framed.
#pragma once

#include "ui/app/lesson/tour.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Enter and the right arrow go on, the left arrow back; Escape ends it.
void draw_tour(const PanelContext& context, Tour& tour);

}  // namespace trainscope::ui
