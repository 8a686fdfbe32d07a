// Which keys call an action: "Ctrl+K", "F1", "+" as ImGui knows them.
#pragma once

#include <string_view>

namespace trainscope::ui {

struct ActionInfo;

// Whether the action's keys were pressed in this frame. Keys without Ctrl are left alone while
// someone types, Space and Enter while an item of the window has the keys: they press it.
bool is_pressed(const ActionInfo& action, bool item_has_keys);

// Whether ImGui can read the shortcut.
bool is_readable(std::string_view shortcut);

}  // namespace trainscope::ui
