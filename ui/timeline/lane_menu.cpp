// What a lane's context menu offers.
#include <algorithm>

#include "ui/timeline/canvas.h"

namespace trainscope::ui {
namespace {

const LaneBox* lane_at(const SideView& view, float y) {
  for (const LaneBox& lane : view.layout.lanes)
    if (y >= view.top + lane.y && y < view.top + lane.y + lane.height) return &lane;
  return nullptr;
}

}  // namespace

void note_lane(const Canvas& canvas, TimelineState& state) {
  const float y = ImGui::GetIO().MousePos.y;
  for (const SideView& view : canvas.sides) {
    if (y < view.window || y >= view.shown_end() || !is_ready(*view.side)) continue;
    if (const LaneBox* lane = lane_at(view, y)) state.lane = LaneRef{view.which, lane->lane};
  }
}

void lane_menu(const Canvas& canvas, TimelineState& state, TimelineEvents& events, bool asked) {
  const Theme& theme = *canvas.theme;
  const std::size_t side = number(state.lane.side);
  const trace::Trace* trace =
      side < canvas.input->sides.size() ? canvas.input->sides[side].trace : nullptr;
  if (!trace || state.lane.lane >= trace->lanes().size()) return;
  if (asked) ImGui::OpenPopup("lane");
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(8), theme.px(8)));
  ImGui::PushFont(theme.font.text, theme.size.small);
  if (ImGui::BeginPopup("lane")) {
    const trace::Lane& lane = trace->lanes()[state.lane.lane];
    text(theme.font.strong, theme.size.small, theme.text, lane.name);
    const auto& pinned = canvas.input->sides[side].pinned;
    const bool is_pinned = std::find(pinned.begin(), pinned.end(), state.lane.lane) != pinned.end();
    if (canvas.input->sides[side].takes_notes && ImGui::Selectable("Write a note here"))
      events.write_note = true;
    if (ImGui::Selectable(is_pinned ? "Unpin" : "Pin to the top")) toggle_pin(state.filter, lane);
    if (ImGui::Selectable("Hide")) hide(state.filter, lane);
    if (ImGui::Selectable("Hide all others")) hide_others(state.filter, *trace, lane);
    if (!state.filter.hidden.empty() && ImGui::Selectable("Show all lanes"))
      state.filter.hidden.clear();
    ImGui::EndPopup();
  }
  ImGui::PopFont();
  ImGui::PopStyleVar(2);
}

}  // namespace trainscope::ui
