// A run under way: how far it is.
#pragma once

#include <string>

#include "ui/app/window/theme.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

// "Running, 41 %, 1.2 M spans"; "Training, 52 %" under a timeline that is complete; of a file that
// is read: its name; of one that was: what is still to come.
std::string progress_words(const SideModel& side);

// The side, the words and a bar; an item at the cursor.
void draw_running(const Theme& theme, const SideModel& side);

}  // namespace trainscope::ui
