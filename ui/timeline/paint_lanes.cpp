#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/units.h"
#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

// A small triangle: pointing down when open, right when collapsed.
void paint_chevron(const Canvas& canvas, ImVec2 middle, bool collapsed) {
  const float s = canvas.theme->px(3.5F);
  const Color color = canvas.theme->faint;
  if (collapsed)
    canvas.draw->AddTriangleFilled({middle.x - s * 0.7F, middle.y - s}, {middle.x + s, middle.y},
                                   {middle.x - s * 0.7F, middle.y + s}, color);
  else
    canvas.draw->AddTriangleFilled({middle.x - s, middle.y - s * 0.7F},
                                   {middle.x + s, middle.y - s * 0.7F}, {middle.x, middle.y + s},
                                   color);
}

void paint_group(const Canvas& canvas, const SideView& view, const GroupBox& group) {
  const Theme& theme = *canvas.theme;
  const float top = view.top + group.y, bottom = top + group.height;
  if (!view.in_sight(top, bottom)) return;
  const float middle = (top + bottom) / 2, left = canvas.all.min.x + theme.px(12);
  canvas.draw->AddRectFilled({canvas.all.min.x, top}, {canvas.all.max.x, bottom}, theme.head);
  if (!is_on_path(*view.side, group.name))
    paint_chevron(canvas, {left + theme.px(4), middle}, group.collapsed);
  const std::string name = group.name.empty() ? "other" : group.name;
  draw_text_middle(canvas.draw, theme.font.strong, theme.size.label, left + theme.px(14), middle,
                   theme.text, name);
  const float width = text_size(theme.font.strong, theme.size.label, name).x;
  if (group.collapsed)
    draw_text_middle(canvas.draw, theme.font.text, theme.size.label, left + theme.px(24) + width,
                     middle, theme.faint, counted(group.lanes, "lane"));
}

// Another lane has the same name.
bool is_namesake(const trace::Trace& trace, trace::LaneId lane) {
  for (trace::LaneId other = 0; other < trace.lanes().size(); ++other)
    if (other != lane && trace.lanes()[other].name == trace.lanes()[lane].name) return true;
  return false;
}

// The middle of a lane's name: of one that is cut by what stands above or below it, where that lets
// it be read; none: nowhere.
std::optional<float> name_middle(const Canvas& canvas, const SideView& view, const LaneBox& box,
                                 float size) {
  const float top = view.top + box.y, bottom = top + box.height;
  const float wanted =
      box.rows > 1 ? top + std::min(box.height / 2, canvas.theme->px(16)) : (top + bottom) / 2;
  if (box.pinned) return wanted;
  const float half = size / 2 + 1, high = std::max(top, view.scrolled_top()) + half;
  const float low = std::min(bottom, words_end(canvas, view)) - half;
  if (low < high - 0.5F) return std::nullopt;
  return std::max(high, std::min(wanted, low));
}

void paint_lane(const Canvas& canvas, const SideView& view, const LaneBox& box, bool toned) {
  const Theme& theme = *canvas.theme;
  const float top = view.top + box.y, bottom = top + box.height;
  if (!view.in_sight(top, bottom)) return;
  const float left = canvas.all.min.x, right = canvas.all.max.x;
  if (toned) canvas.draw->AddRectFilled({left, top}, {right, bottom}, theme.lane_tone);
  if (box.pinned)
    canvas.draw->AddRectFilled({left, top}, {left + theme.px(3), bottom}, theme.accent);
  canvas.draw->AddLine({left, bottom - 0.5F}, {right, bottom - 0.5F}, theme.line,
                       theme.size.border);
  const LaneName name = lane_name(canvas, view, box);
  const std::optional<float> middle = name_middle(canvas, view, box, name.size);
  if (!middle) return;
  if (box.all_rows > 1 && !is_on_path(*view.side, box.lane))
    paint_chevron(canvas, {left + theme.px(16), *middle}, box.collapsed);
  draw_text_middle(canvas.draw, theme.font.text, name.size, name.left, *middle, theme.muted,
                   name.words);
  if (const std::string scale = scale_beside_name(canvas, view, box); !scale.empty())
    draw_text_middle(canvas.draw, theme.font.mono, std::min(theme.size.mono, name.size),
                     canvas.lanes.min.x - theme.px(8), *middle, theme.muted, scale, 1);
}

void paint_grid(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const float top = std::max(view.top, view.window);
  const float bottom = view.shown_end();
  if (bottom <= top) return;
  for (const Tick& tick : canvas.ticks) {
    const float x = std::round(canvas.lanes.min.x + tick.x) + 0.5F;
    canvas.draw->AddLine({x, top}, {x, bottom}, theme.grid(tick.major ? 1.0F : 0.55F), 1);
  }
}

Box screen_box(const Canvas& canvas, const SideView& view, float x, float y, float width,
               float height) {
  const float left = canvas.lanes.min.x + x, top = view.top + y;
  return {{left, top}, {left + width, top + height}};
}

// The words of a bar or a gap, on one line from `left`; false where those of a marker or a note
// will stand.
bool is_free(const SideView& view, float left, float middle, float width, float size) {
  return std::none_of(view.taken.begin(), view.taken.end(), [&](const Box& box) {
    return left < box.max.x && left + width > box.min.x && middle - size / 2 < box.max.y &&
           middle + size / 2 > box.min.y;
  });
}

void paint_gap(const Canvas& canvas, const SideView& view, const GapBox& gap) {
  const Theme& theme = *canvas.theme;
  Box box = screen_box(canvas, view, gap.x, gap.y, gap.width, gap.height);
  if (!view.in_sight(box.min.y, box.max.y)) return;
  box.min.x += 1;
  box.max.x -= 1;
  const bool bad = view.side->gaps[gap.gap].bad;
  if (bad)
    draw_bar(canvas.draw, theme, box, theme.of(trace::Category::kSync));
  else
    draw_hatch(canvas.draw, box, theme.idle_line, theme.px(7), theme.px(1), box.min.x);
  if (gap.label.empty()) return;
  const float left = std::max(box.min.x, canvas.lanes.min.x) + theme.px(4);
  const float size = theme.size.label, middle = box.centre().y;
  const float width = text_size(theme.font.text, size, gap.label).x;
  if (!is_free(view, left, middle, width, size)) return;
  canvas.draw->AddRectFilled({left - theme.px(3), middle - size * 0.62F},
                             {left + width + theme.px(3), middle + size * 0.62F},
                             faded(theme.panel, 0.86F), theme.px(3));
  draw_text_middle(canvas.draw, theme.font.text, size, left, middle, bad ? theme.bad : theme.text,
                   gap.label);
}

void paint_label(const Canvas& canvas, const SideView& view, const Bar& bar, const Box& box,
                 const CategoryStyle& style) {
  const Theme& theme = *canvas.theme;
  const float size = std::min(theme.size.label, box.height() - 1);
  const float left = std::max(box.min.x, canvas.lanes.min.x) + theme.px(4);
  const float middle = box.centre().y, width = text_size(theme.font.text, size, bar.label).x;
  if (!is_free(view, left, middle, width, size)) return;
  if (style.hatched) {
    canvas.draw->AddRectFilled({left - theme.px(3), middle - size * 0.62F},
                               {left + width + theme.px(3), middle + size * 0.62F},
                               faded(style.fill, 0.82F), theme.px(3));
  }
  draw_text_middle(canvas.draw, theme.font.text, size, left, middle, style.text, bar.label);
}

// Folds are paler than spans, and paler still the longer the gaps in them: there is more to see
// inside.
void paint_fold(const Canvas& canvas, const Box& box, const Bar& bar) {
  canvas.draw->AddRectFilled(box.min, {std::max(box.max.x, box.min.x + 1), box.max.y},
                             faded(solid_color(*canvas.theme, bar), 0.8F * bar.presence));
}

// What a search found is edged; a fold, or a bar too narrow for that, is marked along its top. What
// it did not find recedes.
void paint_found(const Canvas& canvas, const Bar& bar, const Box& box) {
  const Theme& theme = *canvas.theme;
  if (bar.dimmed)
    canvas.draw->AddRectFilled(box.min, {box.max.x + 1, box.max.y}, faded(theme.panel, 0.78F));
  if (!bar.found) return;
  const float thick = theme.px(2);
  if (bar.count == 1 && box.width() > theme.px(6))
    canvas.draw->AddRect(box.min, box.max, theme.accent, theme.size.bar_corner, thick);
  else
    canvas.draw->AddRectFilled(box.min, {std::max(box.max.x, box.min.x + 1), box.min.y + thick},
                               theme.accent);
}

void paint_bar(const Canvas& canvas, const SideView& view, const TimelineState& state,
               const Bar& bar) {
  const Theme& theme = *canvas.theme;
  Box box = screen_box(canvas, view, bar.x, bar.y, bar.width, bar.height);
  if (!view.in_sight(box.min.y, box.max.y)) return;
  const CategoryStyle& style = theme.of(bar.category);
  if (bar.count > 1) {
    paint_fold(canvas, box, bar);
  } else if (box.width() <= theme.px(4)) {
    canvas.draw->AddRectFilled(box.min, {box.min.x + std::max(box.width() - 0.5F, 1.0F), box.max.y},
                               style.line);
  } else if (bar.endless) {
    paint_endless(canvas, box, style);
  } else {
    box.max.x -= theme.px(1);  // neighbours stay apart
    draw_bar(canvas.draw, theme, box, style);
  }
  // What recedes is not to be read.
  if (!bar.label.empty() && !bar.dimmed) paint_label(canvas, view, bar, box, style);
  const bool is_stay = view.side->chain && bar.found && bar.count == 1 && box.width() > theme.px(6);
  if (is_stay)
    paint_stays(canvas, *view.side, bar, box);
  else
    paint_found(canvas, bar, box);
  const SpanRef self{view.which, bar.span};
  const bool lit = view.side->lit_line != 0 && bar.count == 1 &&
                   view.side->trace->spans()[bar.span].line == view.side->lit_line;
  if (self == state.selected || lit)
    canvas.draw->AddRect({box.min.x - 1, box.min.y - 1}, {box.max.x + 1, box.max.y + 1},
                         lit ? theme.accent : theme.text, theme.size.bar_corner + 1, theme.px(2));
  else if (self == state.hovered)
    canvas.draw->AddRect(box.min, box.max, faded(theme.text, 0.75F), theme.size.bar_corner,
                         theme.px(1));
}

// "3 lanes hidden · show", below the lanes; a click anywhere on it shows them.
void paint_footer(const Canvas& canvas, const SideView& view) {
  if (!view.layout.footer) return;
  const Theme& theme = *canvas.theme;
  const std::size_t count = view.side->filtered;
  const float top = view.top + *view.layout.footer, bottom = view.bottom;
  if (!view.in_sight(top, bottom)) return;
  float x = canvas.all.min.x + theme.px(12);
  const float middle = (top + bottom) / 2;
  const auto say = [&](Color color, const std::string& words) {
    draw_text_middle(canvas.draw, theme.font.text, theme.size.label, x, middle, color, words);
    x += text_size(theme.font.text, theme.size.label, words).x;
  };
  say(theme.muted, counted(count, "lane") + " hidden  ");
  say(theme.accent, "show");
}

bool is_pinned(const SideView& view, trace::LaneId lane) {
  const auto& pinned = view.side->pinned;
  return std::find(pinned.begin(), pinned.end(), lane) != pinned.end();
}

// The lanes that scroll, or those that are pinned, between `top` and `bottom` on the screen.
void paint_lanes(const Canvas& canvas, const SideView& view, const TimelineState& state,
                 bool pinned, float top, float bottom) {
  if (bottom <= top) return;
  canvas.draw->PushClipRect({canvas.all.min.x, top}, {canvas.all.max.x, bottom}, true);
  bool toned = false;
  for (const LaneBox& box : view.layout.lanes)
    if (box.pinned == pinned) paint_lane(canvas, view, box, toned = !toned);
  for (const GroupBox& group : view.layout.groups)
    if (group.pinned == pinned) paint_group(canvas, view, group);
  if (!pinned) paint_footer(canvas, view);
  canvas.draw->PopClipRect();
  canvas.draw->PushClipRect({canvas.lanes.min.x, top}, {canvas.lanes.max.x, bottom}, true);
  paint_grid(canvas, view);
  for (const GapBox& gap : view.layout.gaps)
    if (is_pinned(view, view.side->gaps[gap.gap].lane) == pinned) paint_gap(canvas, view, gap);
  for (const Curve& curve : view.layout.curves)
    if (is_pinned(view, curve.lane) == pinned) paint_curve(canvas, view, curve);
  for (const Bar& bar : view.layout.bars)
    if (bar.pinned == pinned) paint_bar(canvas, view, state, bar);
  for (const RestLine& rest : view.layout.rests)
    if (is_pinned(view, rest.lane) == pinned) paint_rest(canvas, view, rest);
  canvas.draw->PopClipRect();
}

// The edge between the lanes that are pinned and those that scroll below them.
void paint_pinned_edge(const Canvas& canvas, const SideView& view) {
  const Theme& theme = *canvas.theme;
  const float y = view.scrolled_top();
  canvas.draw->AddLine({canvas.all.min.x, y}, {canvas.all.max.x, y}, theme.faint, theme.px(1.5F));
}

}  // namespace

LaneName lane_name(const Canvas& canvas, const SideView& view, const LaneBox& box) {
  const Theme& theme = *canvas.theme;
  const bool folds = box.all_rows > 1;
  LaneName name;
  name.left = canvas.all.min.x + theme.px(view.layout.groups.empty() && !folds ? 12 : 26);
  name.size = std::min(theme.size.small, box.height - theme.px(2));
  const trace::Lane& lane = view.side->trace->lanes()[box.lane];
  // Away from its heading a lane says whose it is.
  const bool away = box.pinned && !view.layout.groups.empty();
  const bool no_headings =
      view.tuck->plain || (view.side->keeps_lanes && view.layout.groups.empty());
  const bool says = away || (no_headings && is_namesake(*view.side->trace, box.lane));
  const std::string words = says && !lane.group.empty() ? lane.group + ": " + lane.name : lane.name;
  name.words =
      shortened(theme.font.text, name.size, words, canvas.lanes.min.x - name.left - theme.px(8));
  return name;
}

Color solid_color(const Theme& theme, const Bar& bar) {
  const auto color_of = [&](trace::Category category) {
    const CategoryStyle& style = theme.of(category);
    if (style.hatched) return style.line;
    return style.edged ? mixed(style.fill, style.line, 0.5F) : style.fill;
  };
  if (bar.count == 1) return color_of(bar.category);
  Color color = color_of(bar.category);
  float weight = bar.mixture[0].parts;
  for (std::size_t i = 1; i < bar.mixture.size() && bar.mixture[i].parts > 0; ++i) {
    weight += bar.mixture[i].parts;
    color = mixed(color, color_of(bar.mixture[i].category),
                  static_cast<float>(bar.mixture[i].parts) / weight);
  }
  return color;
}

void paint_side(const Canvas& canvas, const SideView& view, const TimelineState& state) {
  paint_lanes(canvas, view, state, false, view.scrolled_top(), view.window_end);
  paint_lanes_below(canvas, view);
  if (view.layout.pinned_bottom > view.layout.pinned_top) {
    paint_lanes(canvas, view, state, true, view.window,
                std::min(view.scrolled_top(), view.window_end));
    paint_pinned_edge(canvas, view);
  }
  canvas.draw->PushClipRect({canvas.lanes.min.x, view.window},
                            {canvas.lanes.max.x, view.window_end}, true);
  for (const Arrow& arrow : view.layout.arrows) paint_arrow(canvas, view, arrow);
  canvas.draw->PopClipRect();
}

}  // namespace trainscope::ui
