// Which lanes of a side the timelines show: what happened, what a room or a lesson speaks of, and
// what a person pinned and hid.
#pragma once

#include <cstddef>

#include "ui/app/workspace/workspace.h"
#include "ui/panels/window/context.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// Fills in hidden, pinned, told, ranks, keeps_lanes and filtered of the side of that number, whose
// trace is set.
void choose_lanes(TimelineSide& out, const Workspace& workspace, std::size_t number,
                  const Attention& attention);

}  // namespace trainscope::ui
