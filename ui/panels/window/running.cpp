#include "ui/panels/window/running.h"

#include <algorithm>

#include "base/units.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

std::string progress_words(const SideModel& side) {
  if (!side.file.empty()) return "Reading " + side.file.filename().string();
  if (side.progress.opening) return side.view ? "Computing metrics" : "Drawing the timeline";
  if (side.progress.measuring) return "Measuring, " + side.progress.percent();
  if (side.progress.spans == 0) return "Running";
  if (is_training(side)) return "Training, " + side.progress.percent();
  return "Running, " + side.progress.percent() + ", " +
         format_count(static_cast<double>(side.progress.spans)) + " spans";
}

void draw_running(const Theme& theme, const SideModel& side) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = theme.px(20);
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const std::string words = side.label + ": " + progress_words(side);
  draw_text_middle(draw, theme.font.text, theme.size.small, at.x, at.y + line / 2, theme.text,
                   shortened(theme.font.text, theme.size.small, words, width));
  const float thick = theme.px(4), top = at.y + line + theme.px(2);
  draw->AddRectFilled({at.x, top}, {at.x + width, top + thick}, theme.line, thick / 2);
  const float done = width * static_cast<float>(std::clamp(side.progress.share, 0.0, 1.0));
  if (done >= thick)
    draw->AddRectFilled({at.x, top}, {at.x + done, top + thick}, theme.accent, thick / 2);
  ImGui::Dummy({width, line + thick + theme.px(8)});
}

}  // namespace trainscope::ui
