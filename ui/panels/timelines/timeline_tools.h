// The timelines, and below them what the tools in use have to say.
#pragma once

#include "ui/panels/timelines/range_strip.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Fills the region, and passes on what a person did there.
void draw_with_tools(const PanelContext& context, RangeStrip& strip, TimelineInput input);

}  // namespace trainscope::ui
