// The card of one span: what it is, how long it took, what it moved, and what it waited for.
#pragma once

#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Draws at the cursor. `tall`: with every row that is known (an import's own column).
void draw_details(const PanelContext& context, bool tall);

}  // namespace trainscope::ui
