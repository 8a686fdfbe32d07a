// The first thing one sees when nothing was named: lessons to choose from, a trace to open. Whoever
// types there looks for lessons.
#pragma once

#include <string>

#include "ui/panels/window/context.h"

namespace trainscope::ui {

struct ShelfPanel {
  std::string words;    // what the lessons shown are about; empty: all are shown
  bool active = false;  // its field has the keys
  bool typed = false;   // before it had them
};

void draw_shelf(const PanelContext& context, ShelfPanel& panel);

// What that takes below one another, in pixels, the bar above included, once it has been drawn.
float shelf_height(const Theme& theme);

}  // namespace trainscope::ui
