#include "ui/panels/comparison/metric_line.h"

#include <imgui.h>

namespace trainscope::ui {

bool metric_line(const analysis::Metric& metric, bool is_chosen) {
  // Two may have the same label.
  const bool pressed = ImGui::Selectable((metric.label + "##" + metric.name).c_str(), is_chosen);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip))
    ImGui::SetTooltip("%s: %s", metric.name.c_str(), metric.help.c_str());
  return pressed;
}

}  // namespace trainscope::ui
