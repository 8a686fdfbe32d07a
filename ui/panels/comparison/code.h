// The PyTorch-like listing of one side, with the line that is at work lit, and the span's card.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

void draw_code(const PanelContext& context, const char* name, bool* open);

// The line to light: of the selected or hovered span, else of what is at work at the playhead; 0:
// none.
std::uint16_t lit_line(const Workspace& workspace, const Attention& attention);

}  // namespace trainscope::ui
