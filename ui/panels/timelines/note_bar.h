// The notes' tools: the field in which one is written, on the lane itself, and a bar below the
// timelines that tells of the one selected.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// 0: no note is selected.
float note_bar_height(const PanelContext& context);
// "Note 2 of 5", its text, where it stands, and what can be done with it.
void draw_note_bar(const PanelContext& context, const TimelineInput& input, float height);

// The field, with its top left corner at `at` but within `room`. Enter keeps what was written,
// Escape leaves it.
void draw_note_field(const PanelContext& context, ImVec2 at, const Box& room);

}  // namespace trainscope::ui
