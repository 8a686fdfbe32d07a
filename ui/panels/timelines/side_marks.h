// What is marked on the timelines of two runs: which is done first, and where B was guessed to end.
#pragma once

#include "ui/app/workspace/workspace.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// Both sides of `input` are there, and their results may be seen.
void add_done_marker(TimelineInput& input, const Workspace& workspace);
void add_guesses(TimelineInput& input, const Workspace& workspace);

}  // namespace trainscope::ui
