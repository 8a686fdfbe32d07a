// "Find an action": a few letters, a list, Enter.
#pragma once

#include <string>
#include <vector>

#include "ui/app/action_list.h"
#include "ui/panels/context.h"

namespace trainscope::ui {

struct PalettePanel {
  bool open = false;
  bool just_opened = false;
  std::string words;
  int chosen = 0;
};

void draw_palette(const PanelContext& context, PalettePanel& panel);

// The actions that the letters fit, best first; all of them for no letters.
std::vector<const ActionInfo*> matching_actions(const std::string& words);

}  // namespace trainscope::ui
