// The small cross at the top right of panels and sheets.
#pragma once

#include "ui/app/window/theme.h"

namespace trainscope::ui {

// Clicked, it sets `open` to false; to a test it is "##close".
void close_mark(const Theme& theme, ImVec2 middle, bool& open);

}  // namespace trainscope::ui
