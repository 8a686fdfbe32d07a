// The tour's cards over the window: the rest is dimmed, what is meant is framed.
#pragma once

#include "ui/app/tour.h"
#include "ui/panels/context.h"

namespace trainscope::ui {

// Enter and the right arrow go on, the left arrow back; Escape ends it.
void draw_tour(const PanelContext& context, Tour& tour);

}  // namespace trainscope::ui
