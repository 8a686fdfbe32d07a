#include "ui/panels/gpus/strip_legend.h"

#include <algorithm>

#include "ui/panels/gpus/step_strip.h"

namespace trainscope::ui {

void draw_strip_legend(const Theme& theme, const Box& box, const std::vector<LegendItem>& items,
                       const std::vector<std::string>& ways, const std::string& figure) {
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
  for (const LegendItem& item : items) {
    const float wide = text_size(theme.font.text, theme.size.small, item.words).x;
    if (left + side + theme.px(6) + wide > box.max.x) return;
    const Box swatch{{left, middle - side / 2}, {left + side, middle + side / 2}};
    CategoryStyle style = theme.of(item.category);
    style.fill = shaded(style.fill, {{}, item.busy});
    draw_solid(draw, theme, swatch, style);
    left += side + theme.px(6);
    word(item.words, theme.muted);
  }
  const auto width_of = [&](const std::string& text) {
    return text.empty() ? 0 : text_size(theme.font.text, theme.size.small, text).x + theme.px(16);
  };
  const float end = box.max.x + theme.px(16) - width_of(figure);
  const auto fits = [&](const std::string& text) { return left + width_of(text) <= end; };
  if (const auto way = std::ranges::find_if(ways, fits); way != ways.end()) word(*way, theme.muted);
  if (!figure.empty()) word(figure, theme.text);
}

}  // namespace trainscope::ui
