// Whether a window of Dear ImGui's is shown.
#pragma once

#include <imgui.h>
#include <imgui_internal.h>

namespace trainscope::ui {

// By its name, in the last frame that was drawn.
inline bool is_there(const char* window) {
  const ImGuiWindow* found = ImGui::FindWindowByName(window);
  return found && found->WasActive;
}

}  // namespace trainscope::ui
