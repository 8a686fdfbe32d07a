#include "ui/app/present.h"

#include <algorithm>
#include <limits>

#include "ui/app/comparison.h"
#include "ui/app/workspace.h"

namespace trainscope::ui {
namespace {

using trace::LaneId;
using trace::LaneKind;

// What shows how work overlaps, before what counts.
constexpr LaneKind kInOrder[] = {LaneKind::kStream,     LaneKind::kCopyEngine,
                                 LaneKind::kHostThread, LaneKind::kCollective,
                                 LaneKind::kStaging,    LaneKind::kLoader};

void add_lane(std::vector<LaneId>& lanes, LaneId lane) {
  if (lanes.size() < Present::kLanes && std::find(lanes.begin(), lanes.end(), lane) == lanes.end())
    lanes.push_back(lane);
}

std::vector<const scenario::Focus*> focuses_of(const scenario::Lesson& lesson) {
  std::vector<const scenario::Focus*> all;
  for (const scenario::Step& step : lesson.steps) {
    if (step.focus) all.push_back(&*step.focus);
    if (step.question && step.question->span) all.push_back(&*step.question->span);
  }
  return all;
}

const scenario::Question* open_choice(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  if (!lesson || workspace.forked() || !lesson->step().question) return nullptr;
  const scenario::Question& question = *lesson->step().question;
  const bool open = !lesson->progress.answer(lesson->progress.step()).committed;
  return open && question.kind == scenario::QuestionKind::kChoice ? &question : nullptr;
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
  std::size_t most = 0;
  if (!workspace.revealed() || workspace.hides("timeline")) return most;
  for (const SideModel& side : workspace.sides())
    if (side.view)
      most = std::max(
          most,
          lanes_for_a_room(*side.view->trace, side.view->index, workspace.lesson()->lesson).size());
  return most;
}

}  // namespace

void Present::reveal_all() {
  lanes = kLanes;
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

std::vector<LaneId> lanes_for_a_room(const trace::Trace& trace, const trace::TraceIndex& index,
                                     const scenario::Lesson& lesson) {
  std::vector<LaneId> lanes;
  const auto with = [&](const auto& wanted) {
    for (LaneId lane = 0; lane < std::min<std::size_t>(trace.lanes().size(), index.lanes.size());
         ++lane)
      if (index.lanes[lane].span_count > 0 && wanted(trace.lanes()[lane])) add_lane(lanes, lane);
  };
  for (const scenario::Focus* focus : focuses_of(lesson))
    if (!focus->lane.empty())
      with([&](const trace::Lane& lane) { return lane.name == focus->lane; });
  for (const LaneKind kind : kInOrder)
    with([&](const trace::Lane& lane) { return lane.kind == kind; });
  std::sort(lanes.begin(), lanes.end());
  return lanes;
}

Reveal next_reveal(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  const Present& present = workspace.present;
  if (!present.on || !lesson || workspace.forked() || workspace.busy()) return Reveal::kNothing;
  if (open_choice(workspace))
    return present.most_hands(lesson->progress.step()) > 0 ? Reveal::kAnswer : Reveal::kHands;
  if (workspace.can_run()) return Reveal::kRun;
  if (present.lanes < lanes_of(workspace)) return Reveal::kLane;
  if (present.causes < causes_of(workspace)) return Reveal::kCause;
  const bool on = lesson->progress.can_go_on() &&
                  lesson->progress.step() + 1 < lesson->progress.steps() && !lesson->run_asked;
  return on ? Reveal::kStep : Reveal::kNothing;
}

void reveal_next(Workspace& workspace) {
  Present& present = workspace.present;
  switch (next_reveal(workspace)) {
    case Reveal::kNothing:
      break;
    case Reveal::kHands:
      workspace.notice =
          "Count hands first: key 1 for the first option, 2 for the second, and so "
          "on; 0 begins again.";
      break;
    case Reveal::kAnswer: {
      scenario::Progress& progress = workspace.lesson()->progress;
      const std::vector<int>& hands = present.hands[progress.step()];
      progress.choose(
          static_cast<int>(std::max_element(hands.begin(), hands.end()) - hands.begin()));
      progress.commit();
      break;
    }
    case Reveal::kRun:
      workspace.run_lesson();
      break;
    case Reveal::kLane:
      ++present.lanes;
      break;
    case Reveal::kCause:
      ++present.causes;
      break;
    case Reveal::kStep:
      workspace.next_step();
      break;
  }
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
}

void clear_hands(Workspace& workspace) {
  if (open_choice(workspace)) workspace.present.hands.erase(workspace.lesson()->progress.step());
}

}  // namespace trainscope::ui
