#include "ui/timeline/minimap.h"

#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

constexpr float kReceding[] = {0.5F, 0.3F};  // what is out of the view, by dark and light
constexpr float kLeastLane = 2;              // pixels; lanes that find no room are left out

bool is_drawn(const TimelineSide& side, trace::LaneId lane) {
  if (lane >= side.index->lanes.size() || side.index->lanes[lane].span_count == 0) return false;
  if (side.trace->lanes()[lane].kind == trace::LaneKind::kSteps) return false;
  return std::find(side.hidden.begin(), side.hidden.end(), lane) == side.hidden.end();
}

TimelineLayout lay_out_small(const TimelineSide& side, const Minimap::Source& source) {
  LayoutRequest request;
  request.view_start = source.axis.start - source.offset;
  request.view_end = source.axis.end - source.offset;
  request.width = source.width;
  request.min_bar = 2;
  request.group_height = 0;
  const auto most = static_cast<std::size_t>(source.height / kLeastLane);
  std::size_t drawn = 0;
  for (trace::LaneId lane = 0, n = side.trace->lanes().size(); lane < n; ++lane) {
    if (is_drawn(side, lane) && drawn < most)
      ++drawn;
    else
      request.hidden.push_back(lane);
    request.collapsed.push_back(lane);
  }
  request.lane_height = source.height / static_cast<float>(std::max<std::size_t>(drawn, 1));
  request.lane_height = std::min(request.lane_height, source.height / 2);
  return lay_out(*side.trace, *side.index, *side.draw, request);
}

}  // namespace

void refresh(Minimap& minimap, const TimelineInput& input, TimeRange axis, float width,
             float height) {
  minimap.sources.resize(input.sides.size());
  minimap.sides.resize(input.sides.size());
  for (std::size_t i = 0; i < input.sides.size(); ++i) {
    const TimelineSide& side = input.sides[i];
    Minimap::Source source;
    if (is_ready(side)) source = {side.index, side.offset, side.hidden, axis, width, height};
    if (source == minimap.sources[i]) continue;
    minimap.sides[i] = source.index ? lay_out_small(side, source) : TimelineLayout{};
    minimap.sources[i] = std::move(source);
  }
}

namespace {

void paint_side(const Canvas& canvas, const TimelineLayout& layout, float top) {
  const Theme& theme = *canvas.theme;
  const LaneBox* lane = nullptr;
  for (const Bar& bar : layout.bars) {
    if (!lane || lane->lane != bar.lane)
      for (const LaneBox& box : layout.lanes)
        if (box.lane == bar.lane) lane = &box;
    const float y = top + lane->y, gap = lane->height > 4 ? 1.0F : 0.0F;
    const float left = canvas.lanes.min.x + bar.x;
    canvas.draw->AddRectFilled({left, y},
                               {left + std::max(bar.width, 1.0F), y + lane->height - gap},
                               faded(solid_color(theme, bar), bar.presence));
  }
}

void paint_labels(const Canvas& canvas, float band) {
  const Theme& theme = *canvas.theme;
  const Box& map = canvas.minimap;
  draw_text_middle(canvas.draw, theme.font.text, theme.size.label, map.min.x + theme.px(12),
                   map.centre().y, theme.faint, "whole run");
  if (canvas.input->sides.size() < 2 || band < theme.size.label) return;
  const float inset = (map.height() - 2 * band) / 2;
  for (std::size_t i = 0; i < 2; ++i)
    draw_text_middle(canvas.draw, theme.font.strong, theme.size.label,
                     canvas.lanes.min.x - theme.px(8),
                     map.min.y + inset + (static_cast<float>(i) + 0.5F) * band, theme.faint,
                     i == 0 ? "A" : "B", 1);
}

// What is out of the view recedes; the view has an edge that one can take hold of.
void paint_window(const Canvas& canvas) {
  const Theme& theme = *canvas.theme;
  const Box& map = canvas.minimap;
  const Box view = minimap_view(canvas);
  const float left = canvas.lanes.min.x, right = canvas.lanes.max.x;
  const Color shade = faded(theme.panel, kReceding[theme.is_dark() ? 0 : 1]);
  canvas.draw->AddRectFilled({left, map.min.y}, {view.min.x, map.max.y}, shade);
  canvas.draw->AddRectFilled({view.max.x, map.min.y}, {right, map.max.y}, shade);
  canvas.draw->AddRect(view.min, view.max, theme.accent, theme.px(2), theme.px(1.5F));
}

}  // namespace

Box minimap_view(const Canvas& canvas) {
  const double scale = canvas.lanes.width() / static_cast<double>(std::max<Nanos>(
                                                  canvas.whole.end - canvas.whole.start, 1));
  const auto x = [&](Nanos time) {
    const double at = static_cast<double>(time - canvas.whole.start) * scale;
    return std::clamp(canvas.lanes.min.x + static_cast<float>(at), canvas.lanes.min.x,
                      canvas.lanes.max.x);
  };
  const float inset = canvas.theme->px(1), least = canvas.theme->px(6);
  Box view{{x(canvas.view.start), canvas.minimap.min.y + inset},
           {x(canvas.view.end), canvas.minimap.max.y - inset}};
  if (view.width() < least) {
    view.min.x = std::min(view.min.x, canvas.lanes.max.x - least);
    view.max.x = view.min.x + least;
  }
  return view;
}

void paint_minimap(const Canvas& canvas, Minimap& minimap) {
  if (canvas.minimap.height() <= 0) return;
  const Theme& theme = *canvas.theme;
  const Box& map = canvas.minimap;
  const auto count = static_cast<float>(std::max<std::size_t>(canvas.input->sides.size(), 1));
  const float inset = theme.px(3);
  const float band = std::floor((map.height() - 2 * inset) / count);
  canvas.draw->AddRectFilled(map.min, map.max, theme.panel);
  canvas.draw->AddLine(map.min, {map.max.x, map.min.y}, theme.line, theme.size.border);
  paint_labels(canvas, band);
  refresh(minimap, *canvas.input, canvas.whole, canvas.lanes.width(), band - theme.px(2));
  canvas.draw->PushClipRect({canvas.lanes.min.x, map.min.y}, {canvas.lanes.max.x, map.max.y}, true);
  for (std::size_t i = 0; i < minimap.sides.size(); ++i)
    paint_side(canvas, minimap.sides[i], map.min.y + inset + static_cast<float>(i) * band);
  canvas.draw->PopClipRect();
  paint_window(canvas);
}

}  // namespace trainscope::ui
