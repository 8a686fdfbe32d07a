#include "ui/timeline/view.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

template <typename T>
void toggle(std::vector<T>& list, const T& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  if (at == list.end())
    list.push_back(value);
  else
    list.erase(at);
}

bool is_ready(const TimelineSide& side) {
  return side.trace && side.index && side.draw;
}

std::size_t number(Side side) {
  return static_cast<std::size_t>(side);
}

LayoutRequest request_for(const Canvas& canvas, const TimelineSide& side, Side which,
                          const TimelineState& state) {
  const Theme& theme = *canvas.theme;
  LayoutRequest request;
  request.view_start = canvas.view.start - side.offset;
  request.view_end = canvas.view.end - side.offset;
  request.width = canvas.lanes.width();
  request.lane_height = theme.size.lane;
  request.row_height = theme.px(21);
  request.counter_height = theme.px(48);
  request.group_height = theme.px(24);
  request.min_bar = std::max(3.0F, theme.px(3));
  request.min_label = theme.px(14);
  request.label_pad = theme.px(4);
  request.hidden = side.hidden;
  request.collapsed = state.collapsed[number(which)];
  request.collapsed_groups = state.collapsed_groups[number(which)];
  return request;
}

float wanted_height(const TimelineSide& side, const LayoutRequest& request) {
  if (is_ready(side)) return lay_out_lanes(*side.trace, *side.draw, request).height;
  const auto lanes = static_cast<float>(std::max<std::size_t>(side.lane_names.size(), 3));
  return lanes * request.lane_height;
}

// Lanes as tall as they like where there is room, down to a least height where there is not.
void shrink(LayoutRequest& request, const Theme& theme, float share) {
  const auto fit_to = [&](float& height, float least) {
    height = std::max(std::floor(height * std::min(share, 1.15F)), least);
  };
  fit_to(request.lane_height, theme.size.lane_min);
  fit_to(request.row_height, theme.size.row_min);
  fit_to(request.counter_height, theme.size.lane_min);
}

std::vector<LayoutRequest> requests_for(const Canvas& canvas, const TimelineState& state) {
  std::vector<LayoutRequest> requests;
  float wanted = 0, room = canvas.body.height();
  for (std::size_t i = 0; i < canvas.input->sides.size(); ++i) {
    const TimelineSide& side = canvas.input->sides[i];
    requests.push_back(request_for(canvas, side, static_cast<Side>(i), state));
    wanted += wanted_height(side, requests.back());
    room -= canvas.theme->size.strip;
  }
  for (LayoutRequest& request : requests)
    shrink(request, *canvas.theme, room / std::max(wanted, 1.0F));
  return requests;
}

void lay_out_side(const Canvas& canvas, SideView& view, LayoutRequest& request,
                  const TimelineState& state) {
  if (!is_ready(*view.side)) return;
  const Theme& theme = *canvas.theme;
  request.visible_top = view.window - view.top;
  request.visible_bottom = view.window_end - view.top;
  request.text_width = [&theme](std::string_view label) {
    return text_size(theme.font.text, theme.size.label, label).x;
  };
  if (state.selected.side == view.which) request.links = state.links;
  view.layout =
      lay_out(*view.side->trace, *view.side->index, *view.side->draw, request, view.side->gaps);
}

// How much of `room` each side gets: what it wants; where that is too much, the one that wants less
// than half of it gets that, and the other the rest. So both are always in sight.
std::vector<float> share_out(const std::vector<float>& wanted, float room) {
  std::vector<float> given = wanted;
  if (wanted.size() == 1) given[0] = std::min(wanted[0], room);
  if (wanted.size() < 2 || wanted[0] + wanted[1] <= room) return given;
  given[0] = std::min(wanted[0], std::max(room / 2, room - wanted[1]));
  given[1] = room - given[0];
  return given;
}

// Stacks the sides from the top. Both scroll together, each as far as it has lanes.
void place_sides(Canvas& canvas, TimelineState& state) {
  std::vector<LayoutRequest> requests = requests_for(canvas, state);
  const float strip = canvas.theme->size.strip;
  std::vector<float> wanted;
  for (std::size_t i = 0; i < requests.size(); ++i)
    wanted.push_back(std::ceil(wanted_height(canvas.input->sides[i], requests[i])));
  float room = canvas.body.height() - strip * static_cast<float>(wanted.size()), overflow = 0;
  const std::vector<float> given = share_out(wanted, room);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    overflow = std::max(overflow, wanted[i] - given[i]);
    room -= given[i];
  }
  state.scroll = std::clamp(state.scroll, 0.0F, overflow);
  const float gap = wanted.size() < 2 ? 0 : std::min(std::floor(room / 2), canvas.theme->px(30));
  float y = canvas.body.min.y;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    SideView view;
    view.side = &canvas.input->sides[i];
    view.which = static_cast<Side>(i);
    view.strip = y;
    view.window = y + strip;
    view.window_end = std::floor(view.window + given[i]);
    view.top = view.window - std::round(std::min(state.scroll, wanted[i] - given[i]));
    view.bottom = view.top + wanted[i];
    lay_out_side(canvas, view, requests[i], state);
    y = view.window_end + gap;
    canvas.sides.push_back(std::move(view));
  }
}

float label_column(const Theme& theme, const TimelineInput& input, float width) {
  float widest = 0;
  const auto measure = [&](const std::string& name) {
    widest = std::max(widest, text_size(theme.font.text, theme.size.small, name).x);
  };
  for (const TimelineSide& side : input.sides) {
    for (const std::string& name : side.lane_names) measure(name);
    if (side.trace)
      for (std::uint32_t lane = 0; lane < side.trace->lanes().size(); ++lane)
        measure(side.trace->lanes()[lane].name);
  }
  const float most = std::min(theme.px(230), width * 0.3F);
  return std::round(std::clamp(widest + theme.px(48), std::min(theme.px(150), most), most));
}

Canvas make_canvas(const Theme& theme, const TimelineInput& input, const TimelineState& state,
                   ImVec2 at, ImVec2 size) {
  Canvas canvas;
  canvas.theme = &theme;
  canvas.draw = ImGui::GetWindowDrawList();
  canvas.input = &input;
  canvas.all = {at, {at.x + size.x, at.y + size.y}};
  canvas.axis = {at, {canvas.all.max.x, at.y + theme.size.axis}};
  canvas.body = {{at.x, canvas.axis.max.y}, canvas.all.max};
  const float left = at.x + label_column(theme, input, size.x);
  canvas.lanes = {{left, canvas.body.min.y}, {canvas.all.max.x - theme.px(14), canvas.all.max.y}};
  canvas.view = state.view;
  canvas.ticks = axis_ticks(state.view.start, state.view.end, canvas.lanes.width(), theme.px(112));
  return canvas;
}

bool inside(const Box& box, ImVec2 point) {
  return point.x >= box.min.x && point.x < box.max.x && point.y >= box.min.y && point.y < box.max.y;
}

void take_wheel(const Canvas& canvas, TimelineState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool over_time = io.MousePos.x >= canvas.lanes.min.x;
  const float lines = io.MouseWheel;
  if (lines != 0 && over_time && !io.KeyShift)
    zoom(state, std::pow(1.25, -static_cast<double>(lines)), canvas.time(io.MousePos.x));
  else if (lines != 0)
    state.scroll -= lines * canvas.theme->px(57);
  if (io.MouseWheelH != 0) pan(state, -0.08 * static_cast<double>(io.MouseWheelH));
}

void take_keys(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper) return;
  const bool over = inside(canvas.lanes, io.MousePos);
  const Nanos anchor = over ? canvas.time(io.MousePos.x) : (state.view.start + state.view.end) / 2;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key, true); };
  if (pressed(ImGuiKey_F)) fit(state, axis_range(*canvas.input));
  if (pressed(ImGuiKey_LeftArrow)) pan(state, -0.15);
  if (pressed(ImGuiKey_RightArrow)) pan(state, 0.15);
  if (pressed(ImGuiKey_UpArrow)) state.scroll -= canvas.theme->px(57);
  if (pressed(ImGuiKey_DownArrow)) state.scroll += canvas.theme->px(57);
  if (pressed(ImGuiKey_Equal) || pressed(ImGuiKey_KeypadAdd)) zoom(state, 1 / 1.4, anchor);
  if (pressed(ImGuiKey_Minus) || pressed(ImGuiKey_KeypadSubtract)) zoom(state, 1.4, anchor);
  if (pressed(ImGuiKey_Escape) && (state.range || state.selected.span != trace::kNone)) {
    state.range.reset();
    state.selected = {};
    events.selected = SpanRef{};
  }
}

Box scroll_bar(const Canvas& canvas, const SideView& view) {
  const float width = canvas.theme->px(11);
  return {{canvas.all.max.x - width, view.window}, {canvas.all.max.x, view.window_end}};
}

// B's strip, by which it is moved along the axis.
bool on_movable_strip(const Canvas& canvas, ImVec2 mouse) {
  if (!canvas.input->movable) return false;
  for (const SideView& view : canvas.sides)
    if (view.which == Side::kB && is_ready(*view.side) &&
        inside({{canvas.all.min.x, view.strip}, {canvas.all.max.x, view.window}}, mouse))
      return true;
  return false;
}

// Once everything has its place. A drag goes on in the next frames.
void begin_drag(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const ImGuiIO& io = ImGui::GetIO();
  state.drag_distance = 0;
  state.drag_anchor = canvas.time(io.MousePos.x);
  state.drag = TimelineState::Drag::kNone;
  if (inside(canvas.axis, io.MousePos)) {
    state.drag = TimelineState::Drag::kPlayhead;
    events.playhead =
        canvas.time(std::clamp(io.MousePos.x, canvas.lanes.min.x, canvas.lanes.max.x));
  } else if (io.MousePos.x >= canvas.lanes.min.x) {
    state.drag = io.KeyShift ? TimelineState::Drag::kRange : TimelineState::Drag::kPan;
  }
  if (on_movable_strip(canvas, io.MousePos)) state.drag = TimelineState::Drag::kOffset;
  for (const SideView& view : canvas.sides) {
    if (!view.scrolls() || !inside(scroll_bar(canvas, view), io.MousePos)) continue;
    state.drag = TimelineState::Drag::kScroll;
    state.scroll_rate = (view.bottom - view.top) / (view.window_end - view.window);
  }
}

void go_on_dragging(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const ImGuiIO& io = ImGui::GetIO();
  state.drag_distance += std::abs(io.MouseDelta.x) + std::abs(io.MouseDelta.y);
  const Nanos now = canvas.time(std::clamp(io.MousePos.x, canvas.lanes.min.x, canvas.lanes.max.x));
  switch (state.drag) {
    case TimelineState::Drag::kPan:
      if (state.drag_distance < 4) return;
      if (io.MouseDelta.x != 0)
        move_at_once(state, canvas.time(canvas.lanes.min.x) -
                                canvas.time(canvas.lanes.min.x + io.MouseDelta.x));
      state.scroll -= io.MouseDelta.y;
      return;
    case TimelineState::Drag::kRange:
      state.range = TimeRange{std::min(now, state.drag_anchor), std::max(now, state.drag_anchor)};
      return;
    case TimelineState::Drag::kPlayhead:
      events.playhead = now;
      return;
    case TimelineState::Drag::kOffset:
      if (state.drag_distance < 4) return;
      events.moved = now - state.drag_anchor;
      state.drag_anchor = now;
      return;
    case TimelineState::Drag::kScroll:
      state.scroll += io.MouseDelta.y * state.scroll_rate;
      return;
    case TimelineState::Drag::kNone:
      return;
  }
}

// Input that moves the view, before anything is laid out.
void take_input(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  if (hovered) {
    for (const ImGuiKey key : {ImGuiKey_MouseWheelX, ImGuiKey_MouseWheelY, ImGuiKey_LeftArrow,
                               ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow})
      ImGui::SetItemKeyOwner(key);
    take_wheel(canvas, state);
  }
  if (hovered || ImGui::IsWindowFocused()) take_keys(canvas, state, events);
  if (active) go_on_dragging(canvas, state, events);
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) &&
      inside(canvas.lanes, ImGui::GetIO().MousePos))
    fit(state, axis_range(*canvas.input));
}

const SideView* side_at(const Canvas& canvas, float y) {
  for (const SideView& view : canvas.sides)
    if (y >= view.window && y < view.shown_end()) return &view;
  return nullptr;
}

// A click on the labels folds and unfolds headings and lanes of several rows.
void click_label(const Canvas& canvas, TimelineState& state) {
  const float y = ImGui::GetIO().MousePos.y;
  const SideView* view = side_at(canvas, y);
  if (!view) return;
  const auto hit = [&](float top, float height) {
    return y >= view->top + top && y < view->top + top + height;
  };
  for (const GroupBox& group : view->layout.groups)
    if (hit(group.y, group.height)) toggle(state.collapsed_groups[number(view->which)], group.name);
  for (const LaneBox& lane : view->layout.lanes)
    if (lane.all_rows > 1 && hit(lane.y, lane.height))
      toggle(state.collapsed[number(view->which)], lane.lane);
}

void select(TimelineState& state, TimelineEvents& events, const SideView* view, const Bar* bar) {
  if (!bar) {
    if (state.selected.span != trace::kNone) events.selected = SpanRef{};
    state.selected = {};
    return;
  }
  if (bar->count > 1) {
    show_range(state, {bar->start + view->side->offset, bar->end + view->side->offset}, 0.3);
    return;
  }
  state.selected = {view->which, bar->span};
  events.selected = state.selected;
}

// Input that needs to know what is under the mouse.
void take_hits(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActivated()) begin_drag(canvas, state, events);
  const bool moves = state.drag == TimelineState::Drag::kOffset;
  if (moves || (ImGui::IsItemHovered() && on_movable_strip(canvas, mouse)))
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const SideView* view = ImGui::IsItemHovered() ? side_at(canvas, mouse.y) : nullptr;
  const Bar* bar = nullptr;
  if (view && inside(canvas.lanes, mouse))
    bar = bar_at(view->layout, mouse.x - canvas.lanes.min.x, mouse.y - view->top);
  state.hovered = bar ? SpanRef{view->which, bar->span} : SpanRef{};
  const bool clicked = ImGui::IsItemDeactivated() && state.drag_distance < 4;
  if (clicked && mouse.x < canvas.lanes.min.x && !inside(canvas.axis, mouse))
    click_label(canvas, state);
  if (clicked && state.drag == TimelineState::Drag::kPan) select(state, events, view, bar);
  if (ImGui::IsItemDeactivated()) {
    if (state.drag == TimelineState::Drag::kRange) {
      if (clicked) state.range.reset();
      if (state.range) events.range = state.range;
    }
    state.drag = TimelineState::Drag::kNone;
  }
  if (bar && state.drag == TimelineState::Drag::kNone) hover_card(*canvas.theme, *view->side, *bar);
}

// The selected span's flows are looked up once, when it is selected.
void follow_selection(const TimelineInput& input, TimelineState& state) {
  if (state.selected == state.linked) return;
  state.linked = state.selected;
  state.links.clear();
  const std::size_t side = number(state.selected.side);
  if (state.selected.span != trace::kNone && side < input.sides.size() && input.sides[side].trace)
    state.links = links_of(*input.sides[side].trace, state.selected.span);
}

void paint_scroll_bar(const Canvas& canvas, const SideView& view, const TimelineState& state) {
  if (!view.scrolls()) return;
  const Box bar = scroll_bar(canvas, view);
  const float content = view.bottom - view.top;
  const float length = std::max(bar.height() * bar.height() / content, canvas.theme->px(24));
  const float travel = (view.window - view.top) / (content - bar.height());
  const float top = bar.min.y + (bar.height() - length) * travel, inset = canvas.theme->px(3);
  const bool held = state.drag == TimelineState::Drag::kScroll;
  canvas.draw->AddRectFilled({bar.min.x + inset, top + inset},
                             {bar.max.x - inset, top + length - inset},
                             faded(canvas.theme->faint, held ? 0.8F : 0.4F), canvas.theme->px(3));
}

// Bars are no items of ImGui, there may be thousands. Tests find them as "A/span 12" below the id
// given to draw_timeline(); the item under the mouse is the timeline itself.
void register_for_tests(const Canvas& canvas) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  if (!g.TestEngineHookItems) return;
  for (const SideView& view : canvas.sides) {
    ImGui::PushID(view.which == Side::kA ? "A" : "B");
    for (const Bar& bar : view.layout.bars) {
      if (bar.count > 1 || bar.width < 4) continue;
      const std::string label = "span " + std::to_string(bar.span);
      const ImGuiID id = ImGui::GetID(label.c_str());
      ImRect box({canvas.lanes.min.x + bar.x, view.top + bar.y},
                 {canvas.lanes.min.x + bar.x + bar.width, view.top + bar.y + bar.height});
      box.ClipWith({{canvas.lanes.min.x, view.window}, {canvas.lanes.max.x, view.window_end}});
      if (box.IsInverted()) continue;
      IMGUI_TEST_ENGINE_ITEM_ADD(id, box, nullptr);
      IMGUI_TEST_ENGINE_ITEM_INFO(id, label.c_str(), ImGuiItemStatusFlags_None);
    }
    ImGui::PopID();
  }
}

void paint(const Canvas& canvas, const TimelineState& state) {
  for (const SideView& view : canvas.sides) {
    if (is_ready(*view.side))
      paint_side(canvas, view, state);
    else
      paint_empty(canvas, view);
    paint_scroll_bar(canvas, view, state);
  }
  if (state.range) paint_range(canvas, *state.range);
  for (const SideView& view : canvas.sides) {
    paint_strip(canvas, view);
    if (!is_ready(*view.side)) continue;
    paint_guesses(canvas, view);
  }
  paint_axis(canvas, state.range);
  paint_playhead(canvas);
  for (const SideView& view : canvas.sides)
    if (is_ready(*view.side)) paint_markers(canvas, view);
  if (state.range) paint_range_length(canvas, *state.range);
}

}  // namespace

TimelineEvents draw_timeline(const char* id, const Theme& theme, const TimelineInput& input,
                             TimelineState& state, ImVec2 size) {
  TimelineEvents events;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (size.x <= 0) size.x = room.x;
  if (size.y <= 0) size.y = room.y;
  if (size.x < theme.px(200) || size.y < theme.size.axis + theme.size.strip) return events;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushID(id);
  ImGui::InvisibleButton("timeline", size);
  const TimeRange axis = axis_range(input);
  // At most a 30th of a second a frame: an animation that begins after a sleep is seen.
  const double step = std::min(static_cast<double>(ImGui::GetIO().DeltaTime), 1.0 / 30);
  advance_view(state, axis, 0);
  const Canvas before = make_canvas(theme, input, state, at, size);
  take_input(before, state, events);
  events.animating = advance_view(state, axis, step);
  if (state.drag == TimelineState::Drag::kPan) keep_in_reach(state.view, axis);
  follow_selection(input, state);
  Canvas canvas = make_canvas(theme, input, state, at, size);
  place_sides(canvas, state);
  take_hits(canvas, state, events);
  canvas.draw->PushClipRect(canvas.all.min, canvas.all.max, true);
  paint(canvas, state);
  canvas.draw->PopClipRect();
  register_for_tests(canvas);
  ImGui::PopID();
  return events;
}

}  // namespace trainscope::ui
