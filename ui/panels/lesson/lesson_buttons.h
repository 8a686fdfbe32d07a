// What one can do on a lesson's step: one primary button, the rest as links.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// A lesson that is taught with the keys, and not left to explore.
bool is_for_a_room(const Workspace& workspace);
// In front of a room Space does what there is to do: the card's room is for what is read. Only the
// way back to the shelf is there, once nothing comes any more.
bool has_lesson_buttons(const Workspace& workspace);

// At the cursor, on as many lines as they need. `with_keys`: the keys go to the primary one.
void draw_lesson_buttons(const PanelContext& context, bool with_keys);

}  // namespace trainscope::ui
