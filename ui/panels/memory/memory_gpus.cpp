#include "ui/panels/memory/memory_gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/units.h"
#include "ui/panels/window/controls.h"

namespace trainscope::ui {
namespace {

using analysis::MemoryGpu;

// GPUs whose peaks are the same are none of them the fullest.
std::string standing(const std::vector<MemoryGpu>& gpus, const MemoryGpu& gpu) {
  const auto [least, most] = std::ranges::minmax(gpus, {}, &MemoryGpu::peak);
  if (least.peak == most.peak) return fmt::format("{}, as each of {}", gpu.name, gpus.size());
  if (gpu.peak == most.peak) return fmt::format("{}, the fullest of {}", gpu.name, gpus.size());
  return fmt::format("{} of {}", gpu.name, gpus.size());
}

}  // namespace

bool memory_gpu_choice(const Theme& theme, const Box& box, const std::vector<MemoryGpu>& gpus,
                       MemoryGpu& now) {
  bool chosen = false;
  ImGui::SetCursorScreenPos(box.min);
  ImGui::PushFont(theme.font.text, theme.size.label);
  ImGui::SetNextItemWidth(std::min(box.width(), theme.px(190)));
  if (begin_list(theme, "##gpu", standing(gpus, now))) {
    for (const MemoryGpu& gpu : gpus) {
      if (ImGui::Selectable(gpu.name.c_str(), gpu.same_place(now))) now = gpu, chosen = true;
      const ImVec2 min = ImGui::GetItemRectMin(), max = ImGui::GetItemRectMax();
      draw_text_middle(ImGui::GetWindowDrawList(), theme.font.mono, theme.size.label,
                       max.x - theme.px(4), (min.y + max.y) / 2, theme.muted,
                       format_bytes(gpu.peak), 1);
    }
    ImGui::EndCombo();
  }
  ImGui::PopFont();
  return chosen;
}

}  // namespace trainscope::ui
