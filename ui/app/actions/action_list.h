// The action registry: everything a person can do in the window, once. It feeds the menus, the
// toolbar, "Find an action", the shortcuts, the help sheet and `trainscope actions`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainscope::ui {

struct ActionInfo {
  std::string id;        // "lesson.next"
  std::string label;     // "Next step"
  std::string shortcut;  // "Ctrl+K", "F"; empty: none
  std::string help;      // one line
};

// In the order in which they are shown.
const std::vector<ActionInfo>& actions();

// Null when there is none of that id.
const ActionInfo* find_action(std::string_view id);

}  // namespace trainscope::ui
