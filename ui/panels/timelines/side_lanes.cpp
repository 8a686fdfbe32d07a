#include "ui/panels/timelines/side_lanes.h"

#include <algorithm>
#include <set>
#include <string>

#include "sim/sm_lanes.h"
#include "ui/app/lesson/present.h"
#include "ui/app/views/telling_ranks.h"
#include "ui/timeline/lane_filter.h"

namespace trainscope::ui {
namespace {

// Two runs of a training step share the room; what its kernels hold of the SMs is in their panel.
bool is_too_much(const trace::Lane& lane, const Workspace& workspace, const SideModel& side) {
  const bool of_sms = lane.name == sim::kBusySmsLane || lane.name == sim::kResidentWarpsLane;
  return of_sms && workspace.sides().size() > 1 && side.run && side.run->program &&
         side.run->program->parameters > 0;
}

bool only_repeats(trace::LaneId lane, const IndexedTrace& view) {
  return std::ranges::find(view.repeated_marks, lane) != view.repeated_marks.end();
}

// Lanes on which nothing happened say nothing, once the run is over. Memory has a panel of its own:
// its lanes are shown where a person asks for them.
void hide_lanes(TimelineSide& out, const Workspace& workspace, const SideModel& side,
                bool memory_lanes) {
  const trace::Trace& trace = *side.view->trace;
  for (std::uint32_t lane = 0; lane < trace.lanes().size(); ++lane) {
    const trace::LaneKind kind = trace.lanes()[lane].kind;
    const bool counts = kind == trace::LaneKind::kCounter || kind == trace::LaneKind::kMemory;
    const bool empty = lane >= side.view->index.lanes.size() ||
                       (side.view->index.lanes[lane].span_count == 0 && !counts);
    const bool of_memory =
        kind == trace::LaneKind::kMemoryRole || (kind == trace::LaneKind::kMemory && !memory_lanes);
    if ((empty && side.run && !side.busy) || of_memory ||
        is_too_much(trace.lanes()[lane], workspace, side) || only_repeats(lane, *side.view) ||
        workspace.hides(trace.lanes()[lane].name))
      out.hidden.push_back(lane);
  }
}

// What a step points at or asks for.
std::string lane_of_step(const scenario::Step& step) {
  if (step.question && step.question->span) return step.question->span->lane;
  return step.focus ? step.focus->lane : "";
}

// Of what a room sees: the step's own lane, the GPU at work, what the lesson points at elsewhere,
// the host, the rest.
int turn_of(const trace::Lane& lane, const scenario::Lesson& lesson, const scenario::Step& step) {
  if (!lane.name.empty() && lane.name == lane_of_step(step)) return 0;
  if (lane.kind == trace::LaneKind::kStream) return 1;
  const auto focuses = focuses_of(lesson);
  if (std::ranges::any_of(focuses, [&](const auto* focus) { return focus->lane == lane.name; }))
    return 2;
  return lane.kind == trace::LaneKind::kHostThread ? 3 : 4;
}

// In front of a room lanes come one after another, and only the few that tell the story; where they
// do not fit whole, the last of them go.
void hide_for_a_room(TimelineSide& out, const Workspace& workspace, std::size_t number) {
  const LessonModel* lesson = workspace.lesson();
  if (!workspace.present.on || !lesson || workspace.forked() || number > 1) return;
  out.keeps_lanes = true;
  std::vector<RoomLanes> shown = lanes_for_a_room(workspace);
  shown.resize(std::min(shown.size(), workspace.present.lanes));
  for (std::uint32_t lane = 0; lane < out.trace->lanes().size(); ++lane) {
    const bool is_shown =
        std::ranges::any_of(shown, [&](const RoomLanes& one) { return one[number] == lane; });
    (is_shown ? out.told : out.hidden).push_back(lane);
  }
  std::ranges::stable_sort(out.told, {}, [&](trace::LaneId lane) {
    return turn_of(out.trace->lanes()[lane], lesson->lesson, lesson->step());
  });
}

// The lanes that the lesson names; of workers two more, to compare them with.
void keep_told(TimelineSide& out, const Workspace& workspace) {
  constexpr int kBeside = 2;
  const LessonModel* lesson = workspace.lesson();
  if (!lesson) return;
  std::set<std::string> names;
  for (const scenario::Focus* focus : focuses_of(lesson->lesson)) names.insert(focus->lane);
  const bool of_workers = std::ranges::any_of(
      names, [](const std::string& name) { return name.starts_with("loader worker"); });
  int beside = 0;
  for (trace::LaneId lane = 0; lane < out.trace->lanes().size(); ++lane) {
    const trace::Lane& one = out.trace->lanes()[lane];
    const bool worker = of_workers && one.kind == trace::LaneKind::kLoader;
    if (names.contains(one.name) || (worker && beside++ < kBeside)) out.told.push_back(lane);
  }
}

// What a person pinned and hid, of what is there to be shown.
void filter_lanes(TimelineSide& out, const LaneFilter& filter) {
  const auto is_hidden = [&](trace::LaneId lane) {
    return std::find(out.hidden.begin(), out.hidden.end(), lane) != out.hidden.end();
  };
  for (const trace::LaneId lane : lanes_with(*out.trace, filter.pinned))
    if (!is_hidden(lane)) out.pinned.push_back(lane);
  for (const trace::LaneId lane : lanes_with(*out.trace, filter.hidden)) {
    if (is_hidden(lane)) continue;
    out.hidden.push_back(lane);
    ++out.filtered;
  }
}

}  // namespace

void choose_lanes(TimelineSide& out, const Workspace& workspace, std::size_t number,
                  const Attention& attention) {
  const SideModel& side = workspace.sides()[number];
  hide_lanes(out, workspace, side, attention.memory_lanes);
  hide_for_a_room(out, workspace, number);
  if (!out.keeps_lanes) keep_told(out, workspace);
  if (side.run) out.ranks = telling_ranks(side.run->ranks);
  filter_lanes(out, attention.timeline.filter);
}

}  // namespace trainscope::ui
