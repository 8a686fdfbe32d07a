// What is on the screen as a link.
#pragma once

#include "scenario/link.h"

namespace trainscope::ui {

class Workspace;

// Not of what was read from a file.
bool can_link(const Workspace& workspace);
// The lesson at its step, its knobs as they are turned; or the knobs of the runs. Empty where
// there is none.
scenario::Link link_of(const Workspace& workspace);

}  // namespace trainscope::ui
