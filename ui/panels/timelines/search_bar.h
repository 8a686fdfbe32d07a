// Below the timelines, while one searches: what for, how many spans were found, next and previous.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// 0 while one does not search.
float search_bar_height(const PanelContext& context);
void draw_search_bar(const PanelContext& context, const TimelineInput& input, float height);

}  // namespace trainscope::ui
