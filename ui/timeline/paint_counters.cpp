#include <algorithm>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

// Whether the curve changes within the box, whose place is from the lane's left: its words would
// hide that.
bool changes_within(const Curve& curve, const Box& box) {
  for (std::size_t i = 0; i + 1 < curve.points.size(); ++i) {
    const auto& [x0, y0] = curve.points[i];
    const auto& [x1, y1] = curve.points[i + 1];
    if (y0 != y1 && x1 >= box.min.x && x1 <= box.max.x && std::min(y0, y1) <= box.max.y)
      return true;
  }
  return false;
}

bool is_taken(const SideView& view, const Box& box) {
  return std::ranges::any_of(view.taken, [&](const Box& taken) {
    return taken.min.x < box.max.x && taken.max.x > box.min.x && taken.min.y < box.max.y &&
           taken.max.y > box.min.y;
  });
}

// Where the name leaves no room: at the lane's right end, on a ground of its own. Half of it would
// tell nothing, words of a marker or a note stand before it, and so does the curve.
void paint_scale(const Canvas& canvas, const SideView& view, const Curve& curve) {
  const Theme& theme = *canvas.theme;
  const std::optional<Box> box = scale_box(canvas, view, curve);
  if (!box) return;
  const auto& pinned = view.side->pinned;
  const bool is_pinned = std::ranges::find(pinned, curve.lane) != pinned.end();
  const float top = is_pinned ? view.window : view.scrolled_top();
  if (box->min.y < top || box->max.y > view.window_end || is_taken(view, *box)) return;
  const float left = canvas.lanes.min.x;
  if (changes_within(curve, {{box->min.x - left, box->min.y - view.top},
                             {box->max.x - left, box->max.y - view.top}}))
    return;
  canvas.draw->AddRectFilled(box->min, box->max, theme.panel, theme.px(2));
  draw_text_middle(canvas.draw, theme.font.mono, theme.size.mono, box->max.x - theme.px(3),
                   box->min.y + theme.size.mono / 2, theme.muted,
                   counter_words(curve.most, curve.top), 1);
}

const LaneBox* box_of(const SideView& view, trace::LaneId lane) {
  const auto found = std::ranges::find(view.layout.lanes, lane, &LaneBox::lane);
  return found == view.layout.lanes.end() ? nullptr : &*found;
}

}  // namespace

std::string scale_beside_name(const Canvas& canvas, const SideView& view, const LaneBox& box) {
  const Theme& theme = *canvas.theme;
  const auto curve = std::ranges::find(view.layout.curves, box.lane, &Curve::lane);
  if (curve == view.layout.curves.end()) return "";
  const LaneName name = lane_name(canvas, view, box);
  const float used = text_size(theme.font.text, name.size, name.words).x + theme.px(10);
  const float room = canvas.lanes.min.x - theme.px(8) - name.left - used;
  const CounterTop& top = curve->top;
  for (const std::string& words :
       {counter_words(curve->most, top), counter_words(curve->most, {curve->most, top.is_limit})})
    if (text_size(theme.font.mono, theme.size.mono, words).x <= room) return words;
  return "";
}

std::optional<Box> scale_box(const Canvas& canvas, const SideView& view, const Curve& curve) {
  const Theme& theme = *canvas.theme;
  const LaneBox* lane = box_of(view, curve.lane);
  if (lane && !scale_beside_name(canvas, view, *lane).empty()) return std::nullopt;
  const ImVec2 size =
      text_size(theme.font.mono, theme.size.mono, counter_words(curve.most, curve.top));
  const float pad = theme.px(3), top = view.top + curve.y;
  float right = canvas.lanes.max.x - theme.px(4);
  // A marker's line would strike the words.
  for (const Marker& marker : view.side->markers) {
    const float x = canvas.x(marker.time + view.side->offset);
    if (x > right - size.x - 2 * pad && x < right + 2 * pad) right = x - 2 * pad;
  }
  return Box{{right - size.x - pad, top}, {right + pad, top + size.y}};
}

void paint_curve(const Canvas& canvas, const SideView& view, const Curve& curve) {
  const Theme& theme = *canvas.theme;
  const float left = canvas.lanes.min.x, base = view.top + curve.y + curve.height;
  const Color line = theme.of(trace::Category::kForward).line, area = faded(line, 0.22F);
  // What is little is still seen to be more than nothing.
  const auto seen = [&](float y) {
    const float foot = curve.y + curve.height;
    return y < foot ? std::min(y, foot - theme.px(1.5F)) : y;
  };
  for (std::size_t i = 0; i + 1 < curve.points.size(); ++i) {
    const float x0 = curve.points[i].first, y0 = seen(curve.points[i].second);
    const float x1 = curve.points[i + 1].first, y1 = seen(curve.points[i + 1].second);
    if (view.top + y0 < base - 0.5F) {
      canvas.draw->AddRectFilled({left + x0, view.top + y0}, {left + x1, base}, area);
      canvas.draw->AddLine({left + x0, view.top + y0}, {left + x1, view.top + y0}, line,
                           theme.px(1));
    }
    canvas.draw->AddLine({left + x1, view.top + y0}, {left + x1, view.top + y1}, line, theme.px(1));
  }
  paint_scale(canvas, view, curve);
}

}  // namespace trainscope::ui
