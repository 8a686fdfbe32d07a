#include <algorithm>

#include "base/units.h"
#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

// Of a lane less than two thirds of which are in sight one cannot tell what is on it.
bool is_below(const SideView& view, const LaneBox& box) {
  return !box.pinned && view.window_end - (view.top + box.y) < box.height * 2 / 3;
}

bool any_cut(const SideView& view) {
  return std::ranges::any_of(view.layout.lanes, [&](const LaneBox& box) {
    return !box.pinned && view.top + box.y + box.height > view.window_end + 2;
  });
}

std::size_t lanes_below(const SideView& view) {
  const auto& lanes = view.layout.lanes;
  return static_cast<std::size_t>(std::count_if(
      lanes.begin(), lanes.end(), [&](const LaneBox& box) { return is_below(view, box); }));
}

// The top of the lane that is cut.
float cut_top(const SideView& view) {
  for (const LaneBox& box : view.layout.lanes)
    if (is_below(view, box))
      return std::clamp(view.top + box.y, view.scrolled_top(), view.window_end);
  return view.window_end;
}

// For the words, of what is in sight of the lane that is cut: as much as they like, or what is left
// behind whole lanes.
float words_height(const Theme& theme, const SideView& view) {
  return std::min(theme.size.label * 1.2F, view.window_end - cut_top(view));
}

// Without a row of their own in place of the name of the lane that is cut, never of a whole one's.
bool are_among_names(const Canvas& canvas, const SideView& view) {
  constexpr float kLetters = 0.85F;  // of a line's height
  return view.below == 0 && any_cut(view) &&
         words_height(*canvas.theme, view) >= canvas.theme->size.label * kLetters;
}

// Lanes fade out towards where they are cut.
void paint_fade(const Canvas& canvas, const SideView& view, float height) {
  const Theme& theme = *canvas.theme;
  const Color none = faded(theme.panel, 0), most = faded(theme.panel, 0.92F);
  const float bottom = view.window_end;
  canvas.draw->AddRectFilledMultiColor({canvas.lanes.min.x, bottom - height},
                                       {canvas.all.max.x, bottom}, none, none, most, most);
}

void say_below(const Canvas& canvas, const SideView& view, float middle) {
  const Theme& theme = *canvas.theme;
  const float size = theme.size.label, x = canvas.all.min.x + theme.px(26);
  const std::size_t lanes = lanes_below(view);
  const std::string words = lanes > 0 ? counted(lanes, "lane") + " below" : "more below";
  draw_text_middle(canvas.draw, theme.font.text, size, x, middle, theme.muted,
                   shortened(theme.font.text, size, words, canvas.lanes.min.x - x - theme.px(8)));
}

}  // namespace

void paint_endless(const Canvas& canvas, const Box& box, const CategoryStyle& style) {
  const Theme& theme = *canvas.theme;
  const float right = std::min(box.max.x, canvas.lanes.max.x);
  if (right <= box.min.x) return;
  // Its right edge is out of sight: there is none.
  canvas.draw->PushClipRect({box.min.x, box.min.y - 1}, {right, box.max.y + 1}, true);
  draw_bar(canvas.draw, theme, {box.min, {right + theme.px(8), box.max.y}}, style);
  const float wide = std::min((right - box.min.x) / 2, theme.px(56));
  const Color none = faded(theme.panel, 0), most = faded(theme.panel, 0.92F);
  canvas.draw->AddRectFilledMultiColor({right - wide, box.min.y - 1}, {right, box.max.y + 1}, none,
                                       most, most, none);
  canvas.draw->PopClipRect();
  const float half = std::min(theme.px(5), box.height() / 3), middle = box.centre().y;
  const float tip = right - theme.px(2);
  canvas.draw->AddTriangleFilled({tip - 1.6F * half, middle - half}, {tip, middle},
                                 {tip - 1.6F * half, middle + half}, style.line);
}

float words_end(const Canvas& canvas, const SideView& view) {
  return are_among_names(canvas, view) ? view.window_end - words_height(*canvas.theme, view)
                                       : view.window_end;
}

void paint_lanes_below(const Canvas& canvas, const SideView& view) {
  if (view.below == 0 && !any_cut(view)) return;
  const Theme& theme = *canvas.theme;
  const float least = theme.px(6), left = canvas.all.min.x + theme.px(16);
  const float room = view.below > 0 ? view.below : words_height(theme, view);
  paint_fade(canvas, view, view.below > 0 ? least : std::max(room, least));
  if (view.below == 0 && !are_among_names(canvas, view)) return;  // no mark without its words
  const float middle = view.window_end + (view.below > 0 ? room / 2 : -room / 2);
  draw_down_mark(canvas.draw, theme, {left, middle}, theme.muted);
  say_below(canvas, view, middle);
}

}  // namespace trainscope::ui
