#include "ui/app/views/timeline_notes.h"

#include <algorithm>

#include "ui/app/workspace/workspace.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {
namespace {

std::size_t number_of(Side side) {
  return static_cast<std::size_t>(side);
}

Nanos offset_of(const Workspace& workspace, Side side) {
  return side == Side::kB ? workspace.playhead.offset : 0;
}

const trace::Span* selected_span(const Workspace& workspace, const TimelineState& state) {
  const analysis::Run* run = noted_run(workspace, state.selected.side);
  return run && state.selected.span < run->trace->spans().size()
             ? &run->trace->spans()[state.selected.span]
             : nullptr;
}

TimeRange range_of(const Workspace& workspace, Side side, Nanos start, Nanos end) {
  const Nanos offset = offset_of(workspace, side);
  return {start + offset, end + offset};
}

// A moment, or a range too short to be seen, is brought into view without coming closer.
void bring(TimelineState& state, TimeRange range) {
  if (range.start >= state.view.start && range.end <= state.view.end) return;
  const Nanos least = (state.view.end - state.view.start) / 100;
  if (range.end - range.start < least) range.end = range.start + least;
  bring_into_view(state, range);
}

bool has_lane(const Workspace& workspace, const LaneRef& lane) {
  const analysis::Run* run = noted_run(workspace, lane.side);
  return run && lane.lane < run->trace->lanes().size();
}

}  // namespace

const analysis::Run* noted_run(const Workspace& workspace, Side side) {
  if (number_of(side) >= workspace.sides().size() || !workspace.revealed()) return nullptr;
  const SideModel& model = workspace.sides()[number_of(side)];
  return model.run && model.view && !model.busy ? model.run.get() : nullptr;
}

std::vector<LaneNote> lane_notes(const Workspace& workspace, const NoteDesk& desk, Side side) {
  std::vector<LaneNote> shown;
  const analysis::Run* run = noted_run(workspace, side);
  if (!run) return shown;
  const bool here = desk.open && desk.side == side;
  const auto add = [&](const analysis::RunNote& note, bool open) {
    const bool selected = desk.selected == NoteRef{side, shown.size()};
    shown.push_back({note.lane, note.start, note.end, note.text, selected, open});
  };
  for (const analysis::RunNote& note : workspace.notebook.of(*run))
    add(note, here && desk.at == shown.size());
  if (here && !desk.at) add(desk.note, true);
  return shown;
}

std::vector<NoteRef> notes_in_order(const Workspace& workspace) {
  std::vector<std::pair<Nanos, NoteRef>> all;
  for (const Side side : {Side::kA, Side::kB}) {
    const analysis::Run* run = noted_run(workspace, side);
    if (!run) continue;
    const auto& notes = workspace.notebook.of(*run);
    for (std::size_t i = 0; i < notes.size(); ++i)
      all.emplace_back(notes[i].start + offset_of(workspace, side), NoteRef{side, i});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<NoteRef> order;
  for (const auto& [time, note] : all) order.push_back(note);
  return order;
}

std::optional<NotePlace> place_for_note(const Workspace& workspace, const Attention& attention) {
  const TimelineState& state = attention.timeline;
  if (state.range && has_lane(workspace, state.range_lane))
    return NotePlace{state.range_lane, *state.range};
  const trace::Span* span = selected_span(workspace, state);
  if (!span) return std::nullopt;
  return NotePlace{{state.selected.side, span->lane},
                   range_of(workspace, state.selected.side, span->start, span->end())};
}

NotePlace place_in_menu(const Workspace& workspace, const Attention& attention) {
  const TimelineState& state = attention.timeline;
  NotePlace place{state.lane, {state.menu_time, state.menu_time}};
  const trace::Span* span = selected_span(workspace, state);
  if (state.range)
    place.range = *state.range;
  else if (span && state.lane == LaneRef{state.selected.side, span->lane})
    place.range = range_of(workspace, state.selected.side, span->start, span->end());
  return place;
}

void begin_note(const Workspace& workspace, Attention& attention, const NotePlace& place) {
  if (!has_lane(workspace, place.lane)) return;
  NoteDesk& desk = attention.notes;
  desk = {};
  desk.open = desk.just_opened = true;
  desk.side = place.lane.side;
  const Nanos offset = offset_of(workspace, desk.side);
  desk.note = {place.lane.lane, place.range.start - offset, place.range.end - offset, ""};
  bring(attention.timeline, place.range);
  attention.timeline.reveal_lane = place.lane;
}

void edit_note(const Workspace& workspace, Attention& attention) {
  NoteDesk& desk = attention.notes;
  const analysis::RunNote* note = selected_note(workspace, desk);
  if (!note) return;
  show_note(workspace, attention, desk.selected);
  desk.open = desk.just_opened = true;
  desk.side = desk.selected.side;
  desk.note = *note;
  desk.at = desk.selected.note;
}

void keep_note(Workspace& workspace, Attention& attention) {
  NoteDesk& desk = attention.notes;
  const analysis::Run* run = noted_run(workspace, desk.side);
  std::optional<std::size_t> place;
  if (desk.open && run)
    place = desk.at ? workspace.notebook.change(*run, *desk.at, desk.note.text)
                    : workspace.notebook.add(*run, desk.note);
  const Side side = desk.side;
  desk = {};
  if (place) desk.selected = {side, *place};
}

void delete_note(Workspace& workspace, Attention& attention) {
  const NoteRef selected = attention.notes.selected;
  attention.notes = {};
  if (const analysis::Run* run = noted_run(workspace, selected.side))
    workspace.notebook.remove(*run, selected.note);
}

const analysis::RunNote* selected_note(const Workspace& workspace, const NoteDesk& desk) {
  const analysis::Run* run = noted_run(workspace, desk.selected.side);
  if (!run) return nullptr;
  const auto& notes = workspace.notebook.of(*run);
  return desk.selected.note < notes.size() ? &notes[desk.selected.note] : nullptr;
}

void show_note(const Workspace& workspace, Attention& attention, NoteRef which) {
  attention.notes = {};
  attention.notes.selected = which;
  const analysis::RunNote* note = selected_note(workspace, attention.notes);
  if (!note) return;
  bring(attention.timeline, range_of(workspace, which.side, note->start, note->end));
  attention.timeline.reveal_lane = {which.side, note->lane};
}

void step_note(const Workspace& workspace, Attention& attention, bool forward) {
  const std::vector<NoteRef> order = notes_in_order(workspace);
  if (order.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(order.size());
  auto at = std::find(order.begin(), order.end(), attention.notes.selected) - order.begin();
  if (at < count) {
    at = (at + (forward ? 1 : count - 1)) % count;
  } else {
    const Nanos left = attention.timeline.view.start;
    const auto first = std::find_if(order.begin(), order.end(), [&](const NoteRef& one) {
      const analysis::Run& run = *noted_run(workspace, one.side);
      return workspace.notebook.of(run)[one.note].start + offset_of(workspace, one.side) >= left;
    });
    at = first - order.begin();
    at = (forward ? at : at + count - 1) % count;
  }
  show_note(workspace, attention, order[static_cast<std::size_t>(at)]);
}

}  // namespace trainscope::ui
