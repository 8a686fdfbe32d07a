#include "ui/app/actions/timeline_actions.h"

#include <algorithm>

#include "ui/app/actions/conditions.h"
#include "ui/app/window/application.h"

namespace trainscope::ui {
namespace {

const TimelineState& timeline(const Application& app) {
  return app.attention().timeline;
}

const IndexedTrace* view_of(const Application& app, Side side) {
  const auto number = static_cast<std::size_t>(side);
  const auto& sides = app.workspace().sides();
  return number < sides.size() ? sides[number].view.get() : nullptr;
}

std::optional<TimeRange> selected_time(const Application& app) {
  const TimelineState& state = timeline(app);
  if (state.range) return state.range;
  const IndexedTrace* view = view_of(app, state.selected.side);
  if (!view || state.selected.span >= view->trace->spans().size()) return std::nullopt;
  const trace::Span& span = view->trace->spans()[state.selected.span];
  return TimeRange{span.start, span.end()};
}

// ---- Leaving -----------------------------------------------------------------------------------

// A selected span is let go only where the keys are the timelines': Escape has other uses.
bool can_leave(const Application& app) {
  const TimelineState& state = timeline(app);
  return state.measure.on || app.attention().search.open || app.attention().path.on ||
         state.range || selected_note(app.workspace(), app.attention().notes) ||
         (state.selected.span != trace::kNone && app.attention().timeline_has_keys);
}

// What was entered last goes first.
void leave(Application& app) {
  TimelineState& state = app.attention().timeline;
  if (state.measure.on) {
    state.measure = {};
  } else if (app.attention().search.open) {
    app.attention().search = {};
  } else if (app.attention().path.on) {
    app.attention().path = {};
  } else if (selected_note(app.workspace(), app.attention().notes)) {
    app.attention().notes = {};
  } else if (state.range) {
    state.range.reset();
  } else {
    state.selected = {};
  }
}

void toggle_measuring(Application& app) {
  Measure& measure = app.attention().timeline.measure;
  const bool on = !measure.on;
  measure = {};
  measure.on = on;
}

// The start or end of the span at that time of its trace.
std::optional<Edge> edge_of(const IndexedTrace& view, trace::SpanId id, Nanos time) {
  const trace::Span& span = view.trace->spans()[id];
  if (span.start != time && span.end() != time) return std::nullopt;
  Edge edge;
  edge.lane = span.lane;
  edge.span = id;
  edge.is_end = span.start != time;
  return edge;
}

// Of a row's spans one that begins then, else one that ends.
std::optional<Edge> edge_in(const IndexedTrace& view, const trace::Row& row, Nanos time) {
  std::optional<Edge> found;
  for (std::size_t at = trace::first_ending_after(*view.trace, row, time - 1);
       at < row.spans.size() && view.trace->spans()[row.spans[at]].start <= time; ++at)
    if (const auto edge = edge_of(view, row.spans[at], time); edge && (!found || !edge->is_end))
      found = edge;
  return found;
}

// Where the playhead stands on a side: of the selected span, else of the first lane that is not of
// the steps.
std::optional<Edge> edge_at_playhead(const Application& app, Side side) {
  const IndexedTrace* view = view_of(app, side);
  if (!view) return std::nullopt;
  const Workspace& workspace = app.workspace();
  const Nanos time = playhead_of(workspace, static_cast<std::size_t>(side));
  const SpanRef& selected = timeline(app).selected;
  std::optional<Edge> found;
  if (selected.side == side && selected.span < view->trace->spans().size())
    found = edge_of(*view, selected.span, time);
  for (std::size_t lane = 0; lane < view->index.lanes.size() && !found; ++lane) {
    if (view->trace->lanes()[view->index.lanes[lane].lane].kind == trace::LaneKind::kSteps)
      continue;
    for (const trace::Row& row : view->index.lanes[lane].rows)
      if (!found) found = edge_in(*view, row, time);
  }
  if (!found) return std::nullopt;
  found->side = side;
  found->time = time + (side == Side::kB ? workspace.playhead.offset : 0);
  return found;
}

void take_edge_at_playhead(Application& app) {
  const Side first =
      timeline(app).selected.span == trace::kNone ? Side::kA : timeline(app).selected.side;
  for (const Side side : {first, first == Side::kA ? Side::kB : Side::kA})
    if (const auto edge = edge_at_playhead(app, side))
      return take_edge(app.attention().timeline.measure, *edge);
  app.workspace().notice =
      "No span starts or ends at the playhead; Shift+. moves it to the next start or end.";
}

// ---- Along a lane ------------------------------------------------------------------------------

// The next (previous) span that is drawn in the same row as the one selected.
trace::SpanId neighbour(const IndexedTrace& view, trace::SpanId id, bool forward) {
  const trace::Span& span = view.trace->spans()[id];
  if (span.lane >= view.index.lanes.size()) return trace::kNone;
  trace::SpanId best = trace::kNone;
  // By start, then by number: children of one parent, and spans that overlap, are all passed.
  const auto key = [&](trace::SpanId one) {
    return std::pair{view.trace->spans()[one].start, one};
  };
  for (const trace::Row& row : view.index.lanes[span.lane].rows) {
    const auto at = std::partition_point(
        row.spans.begin(), row.spans.end(),
        [&](trace::SpanId one) { return forward ? key(one) <= key(id) : key(one) < key(id); });
    if (forward && at == row.spans.end()) continue;
    if (!forward && at == row.spans.begin()) continue;
    const trace::SpanId found = forward ? *at : *std::prev(at);
    const bool nearer =
        best == trace::kNone || (forward ? key(found) < key(best) : key(found) > key(best));
    if (nearer) best = found;
  }
  return best;
}

// Without a selected span the playhead goes to its next event.
void step_span(Application& app, bool forward) {
  const TimelineState& state = app.attention().timeline;
  const IndexedTrace* view = view_of(app, state.selected.side);
  if (!view || state.selected.span >= view->trace->spans().size()) {
    app.run(forward ? "play.next_event" : "play.previous_event");
    return;
  }
  const trace::SpanId next = neighbour(*view, state.selected.span, forward);
  if (next != trace::kNone) app.select_span({state.selected.side, next});
}

// ---- Searching ---------------------------------------------------------------------------------

void toggle_search(Application& app) {
  TimelineSearch& search = app.attention().search;
  const bool open = !search.open;
  search = {};
  search.open = search.just_opened = open;
  if (open) app.show_panel("timeline");
}

void toggle_path(Application& app) {
  PathView& path = app.attention().path;
  path.on = !path.on;
  if (path.on) app.show_panel("timeline");
}

bool has_found(const Application& app) {
  return has_results(app) && app.attention().search.open && app.attention().search.count() > 0;
}

void step_match(Application& app, bool forward) {
  const TimelineInput input = timeline_input(app.workspace(), app.attention());
  refresh(app.attention().search, input);
  if (const auto next = next_match(app.attention().search, input, timeline(app), forward))
    app.select_span(*next);
}

// ---- Lanes -------------------------------------------------------------------------------------

// Of the selected span, else the one last under the mouse.
const trace::Lane* lane_meant(const Application& app) {
  const TimelineState& state = timeline(app);
  LaneRef lane = state.lane;
  const IndexedTrace* view = view_of(app, state.selected.side);
  if (view && state.selected.span < view->trace->spans().size())
    lane = {state.selected.side, view->trace->spans()[state.selected.span].lane};
  view = view_of(app, lane.side);
  return view && lane.lane < view->trace->lanes().size() ? &view->trace->lanes()[lane.lane]
                                                         : nullptr;
}

bool has_lane(const Application& app) {
  return has_results(app) && lane_meant(app);
}

// By a person, or for want of room.
bool has_hidden_lanes(const Application& app) {
  const TimelineState& state = timeline(app);
  const std::size_t sides = app.workspace().sides().size();
  return !state.filter.hidden.empty() ||
         (sides == 2 && !(state.all_lanes[0] && state.all_lanes[1]));
}

void show_all_lanes(Application& app) {
  TimelineState& state = app.attention().timeline;
  state.filter.hidden.clear();
  state.all_lanes[0] = state.all_lanes[1] = true;
}

bool has_selected_time(const Application& app) {
  return has_results(app) && selected_time(app);
}

}  // namespace

void add_timeline_actions(std::vector<Binding>& table) {
  table.push_back({"timeline.leave", can_leave, leave});
  table.push_back({"timeline.measure", has_results, toggle_measuring});
  table.push_back({"timeline.take_edge",
                   [](const Application& app) { return timeline(app).measure.on; },
                   take_edge_at_playhead});
  table.push_back({"timeline.search", has_results, toggle_search});
  table.push_back({"timeline.critical_path", has_results, toggle_path});
  table.push_back(
      {"timeline.next_match", has_found, [](Application& app) { step_match(app, true); }});
  table.push_back(
      {"timeline.previous_match", has_found, [](Application& app) { step_match(app, false); }});
  table.push_back({"timeline.pin_lane", has_lane, [](Application& app) {
                     toggle_pin(app.attention().timeline.filter, *lane_meant(app));
                   }});
  table.push_back({"timeline.hide_lane", has_lane, [](Application& app) {
                     hide(app.attention().timeline.filter, *lane_meant(app));
                   }});
  table.push_back({"timeline.minimap", has_results, [](Application& app) {
                     bool& shown = app.attention().timeline.show_minimap;
                     shown = !shown;
                   }});
  table.push_back({"timeline.show_lanes", has_hidden_lanes, show_all_lanes});
  table.push_back({"timeline.zoom_to", has_selected_time, [](Application& app) {
                     show_range(app.attention().timeline, *selected_time(app));
                   }});
  table.push_back(
      {"timeline.next_span", has_results, [](Application& app) { step_span(app, true); }});
  table.push_back(
      {"timeline.previous_span", has_results, [](Application& app) { step_span(app, false); }});
}

}  // namespace trainscope::ui
