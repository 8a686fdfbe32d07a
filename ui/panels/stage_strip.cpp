#include "ui/panels/stage_strip.h"

#include <fmt/format.h>

#include <map>

namespace trainscope::ui {
namespace {

using trace::Category;

constexpr Category kForward = Category::kForward;
constexpr Category kBackward = Category::kBackward;

}  // namespace

StepStrip strip_of(const analysis::StageTimes& times, Nanos time) {
  const analysis::StageStep& step = times.steps[times.step_at(time)];
  StepStrip strip;
  strip.shown = step.time;
  strip.has_ground = true;
  std::map<std::int32_t, StripLane> lanes;
  for (const analysis::StageCell& cell : step.cells) {
    StripBar bar{cell.time, cell.is_backward ? kBackward : kForward,
                 std::to_string(cell.micro_batch)};
    bar.is_numbered = true;
    lanes[cell.rank].bars.push_back(std::move(bar));
  }
  for (auto& [rank, lane] : lanes) {
    lane.name = fmt::format("GPU {}", rank);
    strip.lanes.push_back(std::move(lane));
  }
  return strip;
}

void draw_stage_legend(const Theme& theme, const Box& box, std::optional<double> bubble) {
  ImDrawList* draw = ImGui::GetWindowDrawList();
  const float side = theme.px(11), middle = box.centre().y;
  float left = box.min.x;
  const auto word = [&](const std::string& text, Color color) {
    const float wide = text_size(theme.font.text, theme.size.small, text).x;
    if (left + wide > box.max.x) return false;
    draw_text_middle(draw, theme.font.text, theme.size.small, left, middle, color, text);
    left += wide + theme.px(16);
    return true;
  };
  for (const auto& [category, name] :
       {std::pair{kForward, "forward"}, std::pair{kBackward, "backward"}}) {
    if (left + side > box.max.x) return;
    draw_solid(draw, theme, {{left, middle - side / 2}, {left + side, middle + side / 2}},
               theme.of(category));
    left += side + theme.px(6);
    if (!word(name, theme.muted)) return;
  }
  if (!word("with the number of the micro-batch", theme.muted)) return;
  if (bubble) word(fmt::format("bubble {:.1f} %", 100 * *bubble), theme.text);
}

}  // namespace trainscope::ui
