#include "ui/timeline/view.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

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

// Lanes come first: where they do not all fit, the minimap is there only while a part of the run is
// shown, or where some lanes were put away; in a small panel never.
struct MinimapRoom {
  float tall = 0;  // 0: never
  bool shown = false;
};

MinimapRoom minimap_room(const Theme& theme, const TimelineInput& input, const TimelineState& state,
                         float height) {
  const bool any = std::any_of(input.sides.begin(), input.sides.end(), is_ready);
  if (!state.show_minimap || !any || height < theme.px(330)) return {};
  const float tall = std::round(theme.px(input.sides.size() > 1 ? 40 : 28));
  return {tall, !state.fitted || lanes_fit(theme, input, state, height - theme.size.axis - tall)};
}

Canvas make_canvas(const Theme& theme, const TimelineInput& input, const TimelineState& state,
                   ImVec2 at, ImVec2 size) {
  Canvas canvas;
  canvas.theme = &theme;
  canvas.draw = ImGui::GetWindowDrawList();
  canvas.input = &input;
  canvas.all = {at, {at.x + size.x, at.y + size.y}};
  canvas.axis = {at, {canvas.all.max.x, at.y + theme.size.axis}};
  const MinimapRoom minimap = minimap_room(theme, input, state, size.y);
  // The lanes of a path are to be in sight; others do not come and go with what is opened below.
  const bool has_path = std::ranges::any_of(input.sides, &TimelineSide::chain);
  const float full = has_path ? size.y : std::max(input.full_height, size.y);
  const float room = full - theme.size.axis;
  if (!lanes_fit(theme, input, state, minimap.shown ? room - minimap.tall : room))
    canvas.tucks = tucks_for(theme, input, state, room - minimap.tall);
  canvas.tucks.resize(input.sides.size());
  const bool tucked = std::ranges::any_of(canvas.tucks, &Tuck::any);
  const float map = minimap.shown || tucked ? minimap.tall : 0;
  canvas.minimap = {{at.x, canvas.all.max.y - map}, canvas.all.max};
  canvas.all.max.y -= map;
  canvas.whole = fitting_range(axis_range(input));
  canvas.body = {{at.x, canvas.axis.max.y}, canvas.all.max};
  const float left = at.x + label_column(theme, input, size.x);
  canvas.lanes = {{left, canvas.body.min.y}, {canvas.all.max.x - theme.px(14), canvas.all.max.y}};
  canvas.view = state.view;
  canvas.ticks = axis_ticks(state.view.start, state.view.end, canvas.lanes.width(), theme.px(112));
  return canvas;
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

void register_item(const std::string& label, const Box& box) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  if (box.height() < 4) return;
  const ImGuiID id = ImGui::GetID(label.c_str());
  IMGUI_TEST_ENGINE_ITEM_ADD(id, ImRect(box.min, box.max), nullptr);
  IMGUI_TEST_ENGINE_ITEM_INFO(id, label.c_str(), ImGuiItemStatusFlags_None);
}

// The labels of lanes, and the line that says how many are hidden.
void register_labels(const Canvas& canvas, const SideView& view) {
  const float left = canvas.all.min.x, right = canvas.lanes.min.x;
  const auto add = [&](const std::string& label, float top, float bottom) {
    register_item(label,
                  {{left, std::max(top, view.window)}, {right, std::min(bottom, view.window_end)}});
  };
  if (!more_words(view).empty()) register_item("more lanes", more_box(canvas, view));
  register_item("dropped", dropped_box(canvas, view));
  const auto add_all = [](const char* of, const std::vector<std::optional<MarkWords>>& words) {
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i]) register_item(of + std::to_string(i), words[i]->box);
  };
  add_all("guess ", view.guess_words);
  add_all("marker ", view.marker_words);
  if (view.layout.footer) add("hidden lanes", view.top + *view.layout.footer, view.bottom);
  for (const LaneBox& lane : view.layout.lanes) {
    const float top = view.top + lane.y;
    if (lane.pinned || top + 4 >= view.scrolled_top())
      add("lane " + view.side->trace->lanes()[lane.lane].name, top, top + lane.height);
  }
}

// Bars are no items of ImGui, there may be thousands. Tests find them as "A/span 12" below the id
// given to draw_timeline(); the item under the mouse is the timeline itself.
void register_for_tests(const Canvas& canvas) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  if (!g.TestEngineHookItems) return;
  if (canvas.minimap.height() > 0) register_item("minimap view", minimap_view(canvas));
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
    for (const NoteFlag& flag : view.flags)
      register_item("note " + std::to_string(flag.note),
                    {{canvas.lanes.min.x + flag.x, view.top + flag.y},
                     {canvas.lanes.min.x + flag.x + flag.width, view.top + flag.y + flag.height}});
    if (is_ready(*view.side)) register_labels(canvas, view);
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
  for (const SideView& view : canvas.sides) paint_notes(canvas, view);
  paint_axis(canvas, state.range);
  paint_playhead(canvas);
  for (const SideView& view : canvas.sides)
    if (is_ready(*view.side)) paint_markers(canvas, view);
  if (state.range) paint_range_length(canvas, *state.range);
  if (state.measure.on) paint_measure(canvas, state.measure);
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
  press_area("timeline", size);
  const TimeRange axis = axis_range(input);
  // At most a 30th of a second a frame: an animation that begins after a sleep is seen.
  const double step = std::min(static_cast<double>(ImGui::GetIO().DeltaTime), 1.0 / 30);
  advance_view(state, axis, 0);
  const Canvas before = make_canvas(theme, input, state, at, size);
  take_input(before, state, events);
  events.animating = advance_view(state, axis, step);
  if (state.drag == TimelineState::Drag::kPan || state.drag == TimelineState::Drag::kMinimap)
    keep_in_reach(state.view, axis);
  follow_selection(input, state);
  Canvas canvas = make_canvas(theme, input, state, at, size);
  place_sides(canvas, state);
  take_places(canvas);
  take_hits(canvas, state, events);
  if (const auto open = open_note(canvas)) events.open_note = open->min;
  canvas.draw->PushClipRect(canvas.all.min, canvas.all.max, true);
  paint(canvas, state);
  canvas.draw->PopClipRect();
  paint_minimap(canvas, state.minimap);
  register_for_tests(canvas);
  ImGui::PopID();
  return events;
}

}  // namespace trainscope::ui
