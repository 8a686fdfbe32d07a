#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {

// Of a bar that a path is on for a while the rest recedes; along its top the path runs.
void paint_stays(const Canvas& canvas, const TimelineSide& side, const Bar& bar, const Box& box) {
  const Theme& theme = *canvas.theme;
  const Nanos offset = side.offset;
  const auto recede = [&](float from, float to) {
    if (to > from)
      canvas.draw->AddRectFilled({from, box.min.y}, {to, box.max.y}, faded(theme.panel, 0.78F));
  };
  float at = box.min.x;
  for (const Chain::Stay& stay : side.chain->on(bar.span)) {
    const float from = std::clamp(canvas.x(stay.start + offset), box.min.x, box.max.x);
    const float to = std::clamp(canvas.x(stay.end + offset), from, box.max.x);
    recede(at, from);
    canvas.draw->AddRectFilled({from, box.min.y}, {std::max(to, from + 1), box.min.y + theme.px(3)},
                               theme.accent);
    at = to;
  }
  recede(at, box.max.x);
}

// As along a bar, but thin and in dashes: there is no span.
void paint_rest(const Canvas& canvas, const SideView& view, const RestLine& rest) {
  const Theme& theme = *canvas.theme;
  const float thick = theme.px(2), y = view.top + rest.y + thick / 2;
  if (!view.in_sight(y - thick, y + thick)) return;
  const float left = canvas.lanes.min.x + rest.x;
  draw_dashed_line(canvas.draw, {left, y}, {left + rest.width, y}, theme.accent, thick, theme.px(5),
                   theme.px(3));
}

// From the edge of one bar to the edge of the other, in an S between lanes, straight within one.
void paint_arrow(const Canvas& canvas, const SideView& view, const Arrow& arrow) {
  const Theme& theme = *canvas.theme;
  const float left = canvas.lanes.min.x + arrow.aside;
  const ImVec2 from{left + arrow.x0, view.top + arrow.y0}, to{left + arrow.x1, view.top + arrow.y1};
  const Color color = arrow.is_cause ? theme.text : theme.accent;
  const float wing = theme.px(4), head = theme.px(7), width = theme.px(1.6F);
  if (arrow.passing)
    return canvas.draw->AddLine(from, to, faded(color, 0.4F), std::max(theme.px(0.8F), 1.0F));
  if (from.y == to.y) {
    if (to.x - from.x < theme.px(12)) return;  // they touch
    canvas.draw->AddLine(from, {to.x - head, to.y}, color, width);
    canvas.draw->AddTriangleFilled({to.x - head, to.y - wing}, to, {to.x - head, to.y + wing},
                                   color);
    return;
  }
  const float down = to.y > from.y ? 1.0F : -1.0F;
  const ImVec2 neck{to.x, to.y - down * head};
  canvas.draw->AddTriangleFilled({to.x - wing, neck.y}, to, {to.x + wing, neck.y}, color);
  if (std::abs(to.y - from.y) <= head) return;  // the head is all there is room for
  const float bend = down * std::max(std::abs(neck.y - from.y) * 0.55F, theme.px(8));
  canvas.draw->AddBezierCubic(from, {from.x, from.y + bend}, {neck.x, neck.y - bend}, neck, color,
                              width);
  canvas.draw->AddCircleFilled(from, theme.px(2.5F), color);
}

}  // namespace trainscope::ui
