// What mouse and keys do to the timeline.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

bool mouse_is_over() {
  return ImGui::IsItemHovered(ImGuiHoveredFlags_NoNavOverride);
}

// The mouse is over the timeline, or it has the keys, or nothing else in its window has.
bool has_keys() {
  return mouse_is_over() || ImGui::IsItemFocused() ||
         (ImGui::IsWindowFocused() && !ImGui::GetIO().NavVisible);
}

template <typename T>
void toggle(std::vector<T>& list, const T& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  if (at == list.end())
    list.push_back(value);
  else
    list.erase(at);
}

void take_wheel(const Canvas& canvas, TimelineState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool over_time = io.MousePos.x >= canvas.lanes.min.x;
  const float lines = io.MouseWheel;
  const Nanos anchor = inside(canvas.minimap, io.MousePos) ? (state.view.start + state.view.end) / 2
                                                           : canvas.time(io.MousePos.x);
  if (lines != 0 && over_time && !io.KeyShift)
    zoom(state, std::pow(1.25, -static_cast<double>(lines)), anchor);
  else if (lines != 0)
    state.scroll -= lines * canvas.theme->px(57);
  if (io.MouseWheelH != 0) pan(state, -0.08 * static_cast<double>(io.MouseWheelH));
}

void take_keys(const Canvas& canvas, TimelineState& state) {
  const ImGuiIO& io = ImGui::GetIO();
  if (io.WantTextInput || io.KeyCtrl || io.KeyAlt || io.KeySuper) return;
  const bool over = inside(canvas.lanes, io.MousePos);
  const Nanos anchor = over ? canvas.time(io.MousePos.x) : (state.view.start + state.view.end) / 2;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key, true); };
  if (mouse_is_over() && !io.KeyShift) {
    if (pressed(ImGuiKey_W)) zoom(state, 1 / 1.4, anchor);
    if (pressed(ImGuiKey_S)) zoom(state, 1.4, anchor);
    if (pressed(ImGuiKey_A)) pan(state, -0.15);
    if (pressed(ImGuiKey_D)) pan(state, 0.15);
  }
  if (pressed(ImGuiKey_F)) fit(state, axis_range(*canvas.input));
  if (pressed(ImGuiKey_LeftArrow)) pan(state, -0.15);
  if (pressed(ImGuiKey_RightArrow)) pan(state, 0.15);
  if (pressed(ImGuiKey_UpArrow)) state.scroll -= canvas.theme->px(57);
  if (pressed(ImGuiKey_DownArrow)) state.scroll += canvas.theme->px(57);
  if (pressed(ImGuiKey_Equal) || pressed(ImGuiKey_KeypadAdd)) zoom(state, 1 / 1.4, anchor);
  if (pressed(ImGuiKey_Minus) || pressed(ImGuiKey_KeypadSubtract)) zoom(state, 1.4, anchor);
}

// How much time so many pixels of the minimap are.
Nanos minimap_time(const Canvas& canvas, float pixels) {
  return static_cast<Nanos>(static_cast<double>(pixels) / canvas.lanes.width() *
                            static_cast<double>(canvas.whole.end - canvas.whole.start));
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

// The side whose link to more lanes is there; null: none.
const SideView* more_at(const Canvas& canvas, ImVec2 mouse) {
  for (const SideView& view : canvas.sides)
    if (is_ready(*view.side) && !more_words(view).empty() && inside(more_box(canvas, view), mouse))
      return &view;
  return nullptr;
}

const SideView* dropped_at(const Canvas& canvas, ImVec2 mouse) {
  for (const SideView& view : canvas.sides)
    if (inside(dropped_box(canvas, view), mouse)) return &view;
  return nullptr;
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
  } else if (inside(canvas.minimap, io.MousePos) && io.MousePos.x >= canvas.lanes.min.x) {
    state.drag = TimelineState::Drag::kMinimap;
    const Box view = minimap_view(canvas);
    if (!inside(view, io.MousePos))
      move_at_once(state, minimap_time(canvas, io.MousePos.x - view.centre().x));
  } else if (io.MousePos.x >= canvas.lanes.min.x) {
    state.drag = io.KeyShift ? TimelineState::Drag::kRange : TimelineState::Drag::kPan;
  }
  if (more_at(canvas, io.MousePos)) {
    state.drag = TimelineState::Drag::kMore;
    return;
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
    case TimelineState::Drag::kMinimap:
      if (io.MouseDelta.x != 0) move_at_once(state, minimap_time(canvas, io.MouseDelta.x));
      return;
    case TimelineState::Drag::kScroll:
      state.scroll += io.MouseDelta.y * state.scroll_rate;
      return;
    case TimelineState::Drag::kMore:
    case TimelineState::Drag::kNone:
      return;
  }
}

}  // namespace

bool inside(const Box& box, ImVec2 point) {
  return point.x >= box.min.x && point.x < box.max.x && point.y >= box.min.y && point.y < box.max.y;
}

Box scroll_bar(const Canvas& canvas, const SideView& view) {
  const float width = canvas.theme->px(11);
  return {{canvas.all.max.x - width, view.window}, {canvas.all.max.x, view.window_end}};
}

void take_input(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const bool hovered = mouse_is_over();
  const bool active = ImGui::IsItemActive();
  if (hovered) {
    for (const ImGuiKey key : {ImGuiKey_MouseWheelX, ImGuiKey_MouseWheelY})
      ImGui::SetItemKeyOwner(key);
    take_wheel(canvas, state);
  }
  events.has_keys = has_keys();
  if (events.has_keys) {
    // The arrows do not carry the keys to a neighbour, and Space presses nothing: it plays.
    for (const ImGuiKey key :
         {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow,
          ImGuiKey_Space, ImGuiKey_Enter, ImGuiKey_KeypadEnter})
      ImGui::SetKeyOwner(key, ImGui::GetItemID());
    take_keys(canvas, state);
  }
  if (active) go_on_dragging(canvas, state, events);
  // Who measures may click twice in one place.
  if (hovered && !state.measure.on && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) &&
      inside(canvas.lanes, ImGui::GetIO().MousePos))
    fit(state, axis_range(*canvas.input));
}

namespace {

const SideView* side_at(const Canvas& canvas, float y) {
  for (const SideView& view : canvas.sides)
    if (y >= view.window && y < view.shown_end()) return &view;
  return nullptr;
}

// All rows, or one; a person's word stands above how much room there is.
void fold(TimelineState& state, Side side, const LaneBox& lane) {
  auto &collapsed = state.collapsed[number(side)], &unfolded = state.unfolded[number(side)];
  std::erase(lane.collapsed ? collapsed : unfolded, lane.lane);
  (lane.collapsed ? unfolded : collapsed).push_back(lane.lane);
}

// A click on the labels folds and unfolds headings and lanes of several rows; not those that a path
// runs on, which are open as long as it is shown.
void click_label(const Canvas& canvas, TimelineState& state) {
  const float y = ImGui::GetIO().MousePos.y;
  const SideView* view = side_at(canvas, y);
  if (!view) return;
  const auto hit = [&](float top, float height) {
    return y >= view->top + top && y < view->top + top + height;
  };
  if (view->layout.footer && hit(*view->layout.footer, canvas.theme->px(24))) {
    state.filter.hidden.clear();
    return;
  }
  for (const GroupBox& group : view->layout.groups)
    if (!group.pinned && hit(group.y, group.height) && !is_on_path(*view->side, group.name))
      toggle(state.collapsed_groups[number(view->which)], group.name);
  for (const LaneBox& lane : view->layout.lanes)
    if (lane.all_rows > 1 && hit(lane.y, lane.height) && !is_on_path(*view->side, lane.lane))
      fold(state, view->which, lane);
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

// While measuring, the edge under the mouse; a click takes it.
void take_measure(const Canvas& canvas, TimelineState& state, const SideView* view, bool clicked) {
  Measure& measure = state.measure;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  measure.near.reset();
  if (!measure.on || !view || !is_ready(*view->side) || !inside(canvas.lanes, mouse)) return;
  measure.near = nearest_edge(*view->side->index, view->layout, mouse.x - canvas.lanes.min.x,
                              mouse.y - view->top, canvas.lanes.width());
  if (!measure.near) return;
  measure.near->side = view->which;
  measure.near->time += view->side->offset;
  if (clicked) take_edge(measure, *measure.near);
}

}  // namespace

namespace {

// What is under the mouse: at most one of a bar and a flag.
struct Hit {
  const SideView* view = nullptr;
  const Bar* bar = nullptr;
  const NoteFlag* flag = nullptr;
};

Hit hit_at(const Canvas& canvas, const TimelineState& state, ImVec2 mouse) {
  Hit hit;
  hit.view = mouse_is_over() ? side_at(canvas, mouse.y) : nullptr;
  if (!hit.view || !inside(canvas.lanes, mouse)) return hit;
  const float x = mouse.x - canvas.lanes.min.x, y = mouse.y - hit.view->top;
  if (!state.measure.on) hit.flag = flag_at(hit.view->layout, hit.view->flags, x, y);
  if (!hit.flag) hit.bar = bar_at(hit.view->layout, x, y);
  return hit;
}

void show_card(const Canvas& canvas, const TimelineState& state, const Hit& hit) {
  if (state.drag != TimelineState::Drag::kNone || state.measure.on) return;
  const auto box_of = [&](const auto& shape) {
    const ImVec2 min{canvas.lanes.min.x + shape.x, hit.view->top + shape.y};
    return Box{min, {min.x + shape.width, min.y + shape.height}};
  };
  if (hit.bar) hover_card(*canvas.theme, *hit.view->side, *hit.bar, box_of(*hit.bar));
  if (hit.flag) place_beside(*canvas.theme, box_of(*hit.flag));
  if (hit.flag) note_card(*canvas.theme, *hit.view->side, hit.view->side->notes[hit.flag->note]);
}

void end_drag(TimelineState& state, TimelineEvents& events, bool clicked) {
  if (state.drag == TimelineState::Drag::kRange) {
    if (clicked) state.range.reset();
    if (state.range) events.range = state.range;
  }
  state.drag = TimelineState::Drag::kNone;
}

}  // namespace

void take_hits(const Canvas& canvas, TimelineState& state, TimelineEvents& events) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemActivated()) begin_drag(canvas, state, events);
  const bool moves = state.drag == TimelineState::Drag::kOffset;
  const SideView* more = mouse_is_over() ? more_at(canvas, mouse) : nullptr;
  if (!more && (moves || (mouse_is_over() && on_movable_strip(canvas, mouse))))
    ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  const Hit hit = hit_at(canvas, state, mouse);
  const SideView* view = hit.view;
  state.hovered = hit.bar ? SpanRef{view->which, hit.bar->span} : SpanRef{};
  if (view) note_lane(canvas, state);
  if (ImGui::IsItemActivated() && state.drag == TimelineState::Drag::kRange)
    state.range_lane = state.lane;
  const bool clicked = ImGui::IsItemDeactivated() && state.drag_distance < 4;
  const bool at_footer = view && view->layout.footer && mouse.y >= view->top + *view->layout.footer;
  if (clicked && (mouse.x < canvas.lanes.min.x || at_footer) && !inside(canvas.axis, mouse))
    click_label(canvas, state);
  if (more && clicked && state.drag == TimelineState::Drag::kMore)
    state.all_lanes[number(more->which)] = !more->all_lanes;
  const bool menu = view && !at_footer && ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  if (menu)
    state.menu_time = canvas.time(std::clamp(mouse.x, canvas.lanes.min.x, canvas.lanes.max.x));
  lane_menu(canvas, state, events, menu);
  const bool chosen = clicked && state.drag == TimelineState::Drag::kPan;
  take_measure(canvas, state, view, chosen);
  if (chosen && hit.flag)
    events.note = NoteRef{view->which, hit.flag->note};
  else if (chosen && !state.measure.on)
    select(state, events, view, hit.bar);
  if (ImGui::IsItemDeactivated()) end_drag(state, events, clicked);
  show_card(canvas, state, hit);
  if (more)
    more_card(*canvas.theme, *more);
  else if (const SideView* of = mouse_is_over() ? dropped_at(canvas, mouse) : nullptr)
    dropped_card(*canvas.theme, *of->side);
}

}  // namespace trainscope::ui
