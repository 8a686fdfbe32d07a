// What it would bring to change something about a trace: replays, computed beside the window, each
// of which can be put beside the trace.
#pragma once

#include "analysis/advice/what_if.h"
#include "ui/app/workspace/background.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct WhatIfPart {
  RunPointer run;
  Background<analysis::WhatIf> found;
};

// Nothing where there is nothing to replay.
void draw_what_if(const PanelContext& context, WhatIfPart& part, const RunPointer& run);

}  // namespace trainscope::ui
