// Which keys call an action: "Ctrl+K", "F1", "+" as ImGui knows them.
#pragma once

#include <string_view>

namespace trainscope::ui {

struct ActionInfo;

// Whether the action's keys were pressed in this frame. Keys without Ctrl are left alone while
// someone types.
bool is_pressed(const ActionInfo& action);

// W, A, S, D: over the timelines they zoom and pan.
bool is_timeline_key(std::string_view shortcut);

// Whether ImGui can read the shortcut.
bool is_readable(std::string_view shortcut);

}  // namespace trainscope::ui
