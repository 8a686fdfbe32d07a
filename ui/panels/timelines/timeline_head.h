// What stands at the right of the timelines' head: how A and B stand to each other, or beside what
// one run may be put; in front of a room, which needs its height for lanes, what is to be read with
// care.
#pragma once

#include <vector>

#include "ui/panels/timelines/side_notes.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Of the head, to be kept free of these words: pixels.
float kept_for_links(const Theme& theme, const Workspace& workspace);
// In the panel's window, once its body has ended. `notes`: those that have no card.
void draw_timeline_head(const PanelContext& context, bool closable,
                        const std::vector<SideNote>& notes);

}  // namespace trainscope::ui
