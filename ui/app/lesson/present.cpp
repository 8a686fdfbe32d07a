#include "ui/app/lesson/present.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "trace/ranks.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/app/lesson/room_view.h"
#include "ui/app/views/comparison.h"
#include "ui/app/views/telling_ranks.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

std::vector<const scenario::Focus*> focuses_of(const scenario::Lesson& lesson) {
  std::vector<const scenario::Focus*> all;
  for (const scenario::Step& step : lesson.steps) {
    if (step.focus) all.push_back(&*step.focus);
    if (step.question && step.question->span) all.push_back(&*step.question->span);
  }
  return all;
}

namespace {

using trace::LaneId;
using trace::LaneKind;

// What shows how work overlaps, before what counts.
constexpr LaneKind kInOrder[] = {LaneKind::kStream,     LaneKind::kCopyEngine,
                                 LaneKind::kHostThread, LaneKind::kCollective,
                                 LaneKind::kStaging,    LaneKind::kLoader};

const scenario::Question* open_question(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  if (!lesson || workspace.forked() || !lesson->step().question) return nullptr;
  const bool open = !lesson->progress.answer(lesson->progress.step()).committed;
  return open ? &*lesson->step().question : nullptr;
}

// Causes stand between the two totals of the waterfall.
std::size_t causes_of(const Workspace& workspace) {
  const scenario::Sides sides = workspace.current_sides();
  if (sides.size() != 2 || !workspace.revealed() || workspace.hides("compare")) return 0;
  const std::size_t bars =
      compare_runs(*sides[0], *sides[1], &workspace.lesson()->lesson).waterfall.size();
  return bars > 2 ? bars - 2 : 0;
}

std::size_t lanes_of(const Workspace& workspace) {
  if (!workspace.revealed() || workspace.hides("timeline")) return 0;
  return lanes_for_a_room(workspace).size();
}

bool is_taken(const std::vector<RoomLanes>& taken, std::size_t side, LaneId lane) {
  return std::ranges::any_of(taken, [&](const RoomLanes& one) { return one[side] == lane; });
}

// The lanes of a side with spans that are wanted and not taken.
template <typename Wanted>
std::vector<LaneId> lanes_left(const RoomSides& sides, std::size_t side,
                               const std::vector<RoomLanes>& taken, Wanted wanted) {
  std::vector<LaneId> lanes;
  const auto& [trace, index, ranks] = sides[side];
  if (!trace) return lanes;
  const std::size_t count = std::min<std::size_t>(trace->lanes().size(), index->lanes.size());
  for (LaneId id = 0; id < count; ++id) {
    const trace::Lane& lane = trace->lanes()[id];
    const bool tells = ranks.empty() || std::ranges::find(ranks, lane.rank) != ranks.end();
    if (index->lanes[id].span_count > 0 && tells && wanted(lane) && !is_taken(taken, side, id))
      lanes.push_back(id);
  }
  return lanes;
}

LaneId first_left(const RoomSides& sides, std::size_t side, const std::vector<RoomLanes>& taken,
                  LaneKind kind) {
  const auto lanes =
      lanes_left(sides, side, taken, [&](const trace::Lane& lane) { return lane.kind == kind; });
  return lanes.empty() ? trace::kNone : lanes.front();
}

// Of each side the lane of that name.
void take_named(const RoomSides& sides, const std::string& name, std::vector<RoomLanes>& taken) {
  RoomLanes lanes{trace::kNone, trace::kNone};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto found =
        lanes_left(sides, side, taken, [&](const trace::Lane& lane) { return lane.name == name; });
    if (!found.empty()) lanes[side] = found.front();
  }
  if (lanes != RoomLanes{trace::kNone, trace::kNone}) taken.push_back(lanes);
}

void take_all_named(const RoomSides& sides, const std::vector<std::string>& names,
                    std::vector<RoomLanes>& taken) {
  for (const std::string& name : names)
    if (taken.size() < Present::kLanes) take_named(sides, name, taken);
}

// What stands between two asterisks, on one line: names of lanes are written so, among other words.
std::vector<std::string> emphasized(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  std::vector<std::string> pieces;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find('*', from), text.size());
    if (to > from) pieces.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  return pieces;
}

std::vector<std::string> lanes_pointed_at(const scenario::Lesson& lesson) {
  std::vector<std::string> names;
  for (const scenario::Focus* focus : focuses_of(lesson))
    if (!focus->lane.empty()) names.push_back(focus->lane);
  return names;
}

// Those of the texts; what is no lane is among them.
std::vector<std::string> lanes_spoken_of(const scenario::Lesson& lesson) {
  std::vector<std::string> names;
  for (const scenario::Step& step : lesson.steps)
    for (const std::string* text : {&step.text, &step.hint, &step.explain})
      std::ranges::move(emphasized(*text), std::back_inserter(names));
  return names;
}

// Where the driver stages copies, the engine stands still between its chunks: that is to be seen.
void take_engine_beside_staging(const RoomSides& sides, std::vector<RoomLanes>& taken) {
  const auto is_staging = [&](const RoomLanes& lanes) {
    for (std::size_t side = 0; side < 2; ++side)
      if (lanes[side] != trace::kNone &&
          sides[side].trace->lanes()[lanes[side]].kind == LaneKind::kStaging)
        return true;
    return false;
  };
  if (taken.size() >= Present::kLanes || std::ranges::none_of(taken, is_staging)) return;
  const RoomLanes engines{first_left(sides, 0, taken, LaneKind::kCopyEngine),
                          first_left(sides, 1, taken, LaneKind::kCopyEngine)};
  if (engines != RoomLanes{trace::kNone, trace::kNone}) taken.push_back(engines);
}

// What went wrong on a device, as a buffer that was overwritten too early, is what a run is about,
// whatever its lesson points at.
void take_faults(const RoomSides& sides, std::vector<RoomLanes>& taken) {
  RoomLanes faults{trace::kNone, trace::kNone};
  for (std::size_t side = 0; side < 2; ++side) {
    const auto found = lanes_left(sides, side, taken, [](const trace::Lane& lane) {
      return lane.kind == LaneKind::kOther && lane.device >= 0;
    });
    if (!found.empty()) faults[side] = found.front();
  }
  if (faults == RoomLanes{trace::kNone, trace::kNone}) return;
  if (taken.size() == Present::kLanes) taken.pop_back();
  taken.push_back(faults);
}

bool is_of_both(const RoomLanes& lanes) {
  return lanes[0] != trace::kNone && lanes[1] != trace::kNone;
}

// All lanes of the kinds: those that both sides have, or those that only one has.
void take_kinds(const RoomSides& sides, bool of_both, std::vector<RoomLanes>& taken) {
  for (const LaneKind kind : kInOrder)
    while (taken.size() < Present::kLanes) {
      const RoomLanes lanes{first_left(sides, 0, taken, kind), first_left(sides, 1, taken, kind)};
      const bool none = lanes == RoomLanes{trace::kNone, trace::kNone};
      if (none || (of_both && !is_of_both(lanes))) break;
      taken.push_back(lanes);
    }
}

// Beside what one side has alone, a lane of its kind that the other has left.
void fill_with_kind(const RoomSides& sides, std::vector<RoomLanes>& taken) {
  for (RoomLanes& lanes : taken)
    for (std::size_t side = 0; side < 2; ++side)
      if (const LaneId other = lanes[1 - side];
          lanes[side] == trace::kNone && other != trace::kNone)
        lanes[side] = first_left(sides, side, taken, sides[1 - side].trace->lanes()[other].kind);
}

// Beside a lane of a kind that the other side does not have, what that one has left.
void fill_up(const RoomSides& sides, std::vector<RoomLanes>& taken) {
  for (RoomLanes& lanes : taken)
    for (std::size_t side = 0; side < 2; ++side)
      for (const LaneKind kind : kInOrder)
        if (lanes[side] == trace::kNone) lanes[side] = first_left(sides, side, taken, kind);
}

}  // namespace

void Present::reveal_all() {
  lanes = kLanes;
  verdict = true;
  causes = std::numeric_limits<std::size_t>::max();
}

int Present::hands_for(std::size_t step, std::size_t option) const {
  const auto found = hands.find(step);
  return found == hands.end() || option >= found->second.size() ? 0 : found->second[option];
}

int Present::most_hands(std::size_t step) const {
  const auto found = hands.find(step);
  return found == hands.end() || found->second.empty()
             ? 0
             : *std::max_element(found->second.begin(), found->second.end());
}

std::vector<RoomLanes> lanes_for_a_room(const RoomSides& sides, const scenario::Lesson& lesson) {
  std::vector<RoomLanes> lanes;
  take_all_named(sides, lanes_pointed_at(lesson), lanes);
  take_engine_beside_staging(sides, lanes);
  take_all_named(sides, lanes_spoken_of(lesson), lanes);
  take_faults(sides, lanes);
  take_kinds(sides, true, lanes);
  take_kinds(sides, false, lanes);
  fill_with_kind(sides, lanes);
  std::ranges::stable_sort(lanes, {}, [](const RoomLanes& one) {
    return std::pair(!is_of_both(one), std::min(one[0], one[1]));
  });
  fill_up(sides, lanes);
  return lanes;
}

std::vector<RoomLanes> lanes_for_a_room(const Workspace& workspace) {
  RoomSides sides;
  std::vector<std::int32_t> ranks;  // of the later side that has several: both show the same
  for (std::size_t i = 0; i < std::min(sides.size(), workspace.sides().size()); ++i) {
    const SideModel& side = workspace.sides()[i];
    if (const TraceView& view = side.view) sides[i] = {view->trace.get(), &view->index};
    if (side.run && side.run->ranks.size() > 1) ranks = telling_ranks(side.run->ranks);
  }
  for (RoomSide& side : sides)
    if (side.trace && trace::ranks_of(*side.trace).size() > 1) side.ranks = ranks;
  return lanes_for_a_room(sides, workspace.lesson()->lesson);
}

bool owes_verdict(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  return workspace.present.on && !workspace.present.verdict && lesson && workspace.revealed() &&
         lesson->step().kind == scenario::StepKind::kRun && !predicted_steps(*lesson).empty();
}

Reveal next_reveal(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  const Present& present = workspace.present;
  if (!present.on || !lesson || workspace.forked() || workspace.busy()) return Reveal::kNothing;
  if (open_choice(workspace))
    return present.most_hands(lesson->progress.step()) > 0 ? Reveal::kAnswer : Reveal::kHands;
  const scenario::Question* question = open_question(workspace);
  const bool asks_for_span = question && question->kind == scenario::QuestionKind::kFindSpan;
  if (question && !asks_for_span) return Reveal::kAnswer;
  if (workspace.can_run()) return Reveal::kRun;
  if (present.lanes < lanes_of(workspace)) return Reveal::kLane;
  if (owes_verdict(workspace)) return Reveal::kVerdict;
  if (asks_for_span && workspace.revealed()) return Reveal::kSpan;
  if (present.causes < causes_of(workspace)) return Reveal::kCause;
  const bool on = lesson->progress.can_go_on() &&
                  lesson->progress.step() + 1 < lesson->progress.steps() && !lesson->run_asked;
  return on ? Reveal::kStep : Reveal::kNothing;
}

namespace {

// The option with most hands, or what was typed; where nothing was, the room goes on without.
void take_answer(Workspace& workspace) {
  scenario::Progress& progress = workspace.lesson()->progress;
  if (open_choice(workspace)) {
    const std::vector<int>& hands = workspace.present.hands[progress.step()];
    progress.choose(static_cast<int>(std::max_element(hands.begin(), hands.end()) - hands.begin()));
  }
  progress.can_commit() ? progress.commit() : workspace.skip_question();
}

}  // namespace

void reveal_next(Workspace& workspace) {
  Present& present = workspace.present;
  workspace.notice.clear();
  switch (next_reveal(workspace)) {
    case Reveal::kNothing:
      break;
    case Reveal::kHands:
      workspace.notice = workspace.lesson()->lesson.say(
          "Count hands first: key 1 for the first option, 2 for the second, and so on; 0 begins "
          "again.");
      break;
    case Reveal::kAnswer:
      take_answer(workspace);
      break;
    case Reveal::kRun:
      workspace.run_lesson();
      break;
    case Reveal::kLane:
      ++present.lanes;
      break;
    case Reveal::kVerdict:
      present.verdict = true;
      break;
    case Reveal::kSpan:
      workspace.skip_question();  // being shown is not finding
      break;
    case Reveal::kCause:
      ++present.causes;
      break;
    case Reveal::kStep:
      workspace.next_step();
      break;
  }
}

const scenario::Question* open_choice(const Workspace& workspace) {
  const scenario::Question* question = open_question(workspace);
  return question && question->kind == scenario::QuestionKind::kChoice ? question : nullptr;
}

std::string panel_to_show(const Workspace& workspace, const std::string& panel) {
  const LessonModel* lesson = workspace.lesson();
  const bool in_turn = workspace.present.on && lesson && !workspace.forked() &&
                       lesson->step().kind != scenario::StepKind::kVary;
  return in_turn && panel == "compare" ? "difference" : panel;
}

bool can_take_option(const Workspace& workspace, int option) {
  const scenario::Question* question = open_choice(workspace);
  return question && option < Present::kOptions &&
         static_cast<std::size_t>(option) < question->options.size();
}

void take_option(Workspace& workspace, int option) {
  if (!can_take_option(workspace, option)) return;
  scenario::Progress& progress = workspace.lesson()->progress;
  if (!workspace.present.on) {
    progress.choose(option);
    return;
  }
  std::vector<int>& hands = workspace.present.hands[progress.step()];
  hands.resize(open_choice(workspace)->options.size());
  ++hands[static_cast<std::size_t>(option)];
  workspace.notice.clear();
}

void clear_hands(Workspace& workspace) {
  if (open_choice(workspace)) workspace.present.hands.erase(workspace.lesson()->progress.step());
}

}  // namespace trainscope::ui
