#include <algorithm>
#include <cmath>
#include <optional>

#include "ui/timeline/canvas.h"
#include "ui/timeline/place.h"

namespace trainscope::ui {
namespace {

// A lane's place on the screen, as far as it is in sight.
struct Reach {
  float top = 0, bottom = 0;
  float middle() const { return (top + bottom) / 2; }
};

std::optional<Reach> reach_of(const Canvas& canvas, const Edge& edge) {
  for (const SideView& view : canvas.sides) {
    if (view.which != edge.side) continue;
    const LaneBox* lane = lane_box(view.layout, edge.lane);
    if (!lane) return std::nullopt;
    const float top = view.top + lane->y, bottom = top + lane->height;
    if (!view.in_sight(top, bottom)) return std::nullopt;
    return Reach{std::max(top, view.window), std::min(bottom, view.window_end)};
  }
  return std::nullopt;
}

void paint_edge(const Canvas& canvas, const Edge& edge, const Reach& reach, float to, float thick) {
  const Theme& theme = *canvas.theme;
  const float x = std::round(canvas.x(edge.time));
  const float top = std::min(reach.top, to), bottom = std::max(reach.bottom, to);
  canvas.draw->AddLine({x, top}, {x, bottom}, faded(theme.accent, 0.6F), theme.px(1));
  canvas.draw->AddLine({x, reach.top}, {x, reach.bottom}, theme.accent, thick);
}

void paint_arrowhead(const Canvas& canvas, float x, float y, float direction) {
  const float length = canvas.theme->px(6), wing = canvas.theme->px(4);
  canvas.draw->AddTriangleFilled({x, y}, {x - direction * length, y - wing},
                                 {x - direction * length, y + wing}, canvas.theme->accent);
}

// In the middle of the ruler, or beside it where it is too short; never out of the lanes.
void paint_words(const Canvas& canvas, float left, float right, float y, const std::string& words) {
  const Theme& theme = *canvas.theme;
  const float width = text_size(theme.font.mono, theme.size.mono, words).x + theme.px(14);
  const float half = theme.px(11);
  const bool fits = right - left > width + theme.px(24);
  float x = fits ? (left + right - width) / 2 : right + theme.px(8);
  if (x + width > canvas.lanes.max.x && !fits) x = left - theme.px(8) - width;
  x = std::clamp(x, canvas.lanes.min.x, std::max(canvas.lanes.max.x - width, canvas.lanes.min.x));
  canvas.draw->AddRectFilled({x, y - half}, {x + width, y + half}, theme.panel, theme.px(4));
  canvas.draw->AddRect({x, y - half}, {x + width, y + half}, theme.accent, theme.px(4),
                       theme.px(1));
  draw_text_middle(canvas.draw, theme.font.mono, theme.size.mono, x + width / 2, y, theme.accent,
                   words, 0.5F);
}

void paint_ruler(const Canvas& canvas, const Edge& from, const Edge& to) {
  const Theme& theme = *canvas.theme;
  const auto a = reach_of(canvas, from), b = reach_of(canvas, to);
  const float y = a && b ? std::round((a->middle() + b->middle()) / 2)
                  : a    ? a->middle()
                  : b    ? b->middle()
                         : canvas.lanes.centre().y;
  if (a) paint_edge(canvas, from, *a, y, theme.px(2));
  if (b) paint_edge(canvas, to, *b, y, theme.px(2));
  const float x0 = canvas.x(from.time), x1 = canvas.x(to.time);
  const float left = std::min(x0, x1), right = std::max(x0, x1);
  const float seen_left = std::max(left, canvas.lanes.min.x),
              seen_right = std::min(right, canvas.lanes.max.x);
  canvas.draw->AddLine({left, y}, {right, y}, theme.accent, theme.px(1.5F));
  if (right - left > theme.px(16)) {
    paint_arrowhead(canvas, left, y, -1);
    paint_arrowhead(canvas, right, y, 1);
  }
  if (seen_left <= seen_right)
    paint_words(canvas, seen_left, seen_right, y, difference_words(from, to));
}

}  // namespace

void paint_measure(const Canvas& canvas, const Measure& measure) {
  canvas.draw->PushClipRect({canvas.lanes.min.x, canvas.body.min.y}, canvas.body.max, true);
  const std::optional<Edge>& to = measure.to ? measure.to : measure.near;
  if (measure.from && to) paint_ruler(canvas, *measure.from, *to);
  for (const std::optional<Edge>* edge : {&measure.from, &measure.near})
    if (*edge)
      if (const auto reach = reach_of(canvas, **edge))
        paint_edge(canvas, **edge, *reach, reach->middle(), canvas.theme->px(3));
  canvas.draw->PopClipRect();
}

}  // namespace trainscope::ui
