#include "ui/panels/timelines/timeline_tools.h"

#include <algorithm>
#include <cmath>

#include "ui/panels/timelines/measure_bar.h"
#include "ui/panels/timelines/note_bar.h"
#include "ui/panels/timelines/path_bar.h"
#include "ui/panels/timelines/search_bar.h"

namespace trainscope::ui {
namespace {

void follow(const PanelContext& context, const TimelineEvents& events) {
  Workspace& workspace = context.workspace;
  if (events.playhead)
    workspace.playhead.time = std::clamp<Nanos>(*events.playhead, 0, playhead_end(workspace));
  if (events.selected && events.selected->span != trace::kNone) {
    context.attention.code_side = static_cast<std::size_t>(events.selected->side);
    context.attention.tab_to_show = "code";
    workspace.select_span(static_cast<std::size_t>(events.selected->side), events.selected->span);
  }
  if (events.moved != 0) set_offset(workspace, workspace.playhead.offset + events.moved);
  if (events.note) {
    context.attention.notes = {};
    context.attention.notes.selected = *events.note;
  }
  if (events.write_note)
    begin_note(workspace, context.attention, place_in_menu(workspace, context.attention));
  if (events.animating) context.ask("animate");
}

// Of the timelines: two lanes of each side in sight.
float least_height(const Theme& theme, const TimelineInput& input) {
  const auto sides = static_cast<float>(input.sides.size());
  return theme.size.axis + sides * (theme.size.strip + 2 * theme.size.lane_min);
}

}  // namespace

void draw_with_tools(const PanelContext& context, RangeStrip& strip, TimelineInput input) {
  const auto [width, room] = ImGui::GetContentRegionAvail();
  input.full_height = room;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float least = least_height(context.theme, input);
  const auto fitting = [&](float tall, float left) { return left - tall >= least ? tall : 0; };
  // What is searched for must be typed somewhere; what one measures is written on the ruler too.
  const float searching = search_bar_height(context);
  const float measuring = fitting(measure_bar_height(context), room - searching);
  const float noted = fitting(note_bar_height(context), room - searching - measuring);
  const float path = fitting(path_bar_height(context), room - searching - measuring - noted);
  const float bars = measuring + searching + noted + path;
  const float ranged = fitting(range_strip_height(context, strip, input, room - bars), room - bars);
  const float height = std::floor(room - bars - ranged);
  const TimelineEvents events =
      draw_timeline("##timelines", context.theme, input, context.attention.timeline, {0, height});
  context.attention.timeline_has_keys = events.has_keys;
  float y = at.y + height;
  const auto below = [&](float tall, const auto& draw) {
    if (tall <= 0) return;
    ImGui::SetCursorScreenPos({at.x, y});
    draw();
    y += tall;
  };
  // A shift-click may just have cleared it.
  const bool has_range = context.attention.timeline.range.has_value();
  below(has_range ? ranged : 0, [&] { draw_range_strip(context, strip, ranged); });
  below(path, [&] { draw_path_bar(context, path); });
  below(noted, [&] { draw_note_bar(context, input, noted); });
  below(measuring, [&] { draw_measure_bar(context, input, measuring); });
  below(searching, [&] { draw_search_bar(context, input, searching); });
  if (context.attention.notes.open)
    draw_note_field(context, events.open_note.value_or(at), {at, {at.x + width, at.y + height}});
  follow(context, events);
}

}  // namespace trainscope::ui
