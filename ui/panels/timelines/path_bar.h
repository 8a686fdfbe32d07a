// Below the timelines, while they show the critical path: what it is made of.
#pragma once

#include <array>

#include "ui/app/views/path_view.h"
#include "ui/app/workspace/background.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Paths under way, found beside the window.
struct PathFinding {
  std::array<RunPointer, 2> asked;
  std::array<Background<PathFacts>, 2> found;
};

// Asks for the paths of the runs that are shown, and takes over those that are there.
void find_paths(const PanelContext& context, PathFinding& finding);

// 0 while it is not shown.
float path_bar_height(const PanelContext& context);
void draw_path_bar(const PanelContext& context, float height);

}  // namespace trainscope::ui
