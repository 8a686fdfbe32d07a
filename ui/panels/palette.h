// "Find an action": a few letters, a list, Enter.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/app/action_list.h"
#include "ui/panels/context.h"

namespace trainscope::ui {

struct PalettePanel {
  bool open = false;
  bool just_opened = false;
  std::string words;
  int chosen = 0;
  std::vector<ActionInfo> more;  // what can be done now beyond the registry: files to open again
};

// "open-recent 3": the file of that place in the list of those opened lately.
inline constexpr std::string_view kOpenRecent = "open-recent ";

void draw_palette(const PanelContext& context, PalettePanel& panel);

// The actions that the letters fit, best first; all of them for no letters, those of `more` last.
std::vector<const ActionInfo*> matching_actions(const std::string& words,
                                                const std::vector<ActionInfo>& more = {});

}  // namespace trainscope::ui
