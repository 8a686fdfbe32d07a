// From panel to panel, as Ctrl+Tab goes.
#pragma once

namespace trainscope::ui {

// The keys go to the panel after the one that has them, in the order in which panels were opened.
void go_to_next_panel();

}  // namespace trainscope::ui
