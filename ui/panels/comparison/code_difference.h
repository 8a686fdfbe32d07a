// In front of a room, in place of a whole listing: the lines in which A's and B's differ, and the
// one that the lesson's step points at.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// The step points at a line of the listing, or asks for a span of one.
bool names_code(const scenario::Step& step);

void draw_code_difference(const PanelContext& context, const char* name, bool* open);

}  // namespace trainscope::ui
