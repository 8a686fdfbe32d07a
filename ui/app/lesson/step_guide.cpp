#include "ui/app/lesson/step_guide.h"

#include <algorithm>
#include <utility>

#include "scenario/grade.h"
#include "ui/app/lesson/room_view.h"
#include "ui/app/lesson/search_range.h"
#include "ui/app/views/line_up.h"
#include "ui/app/window/panel_deck.h"
#include "ui/app/workspace/sweeping.h"
#include "ui/panels/comparison/code_difference.h"
#include "ui/panels/timelines/timelines.h"

namespace trainscope::ui {

const scenario::Focus* asked_span(const scenario::Step& step) {
  const auto& question = step.question;
  return question && question->kind == scenario::QuestionKind::kFindSpan ? &*question->span
                                                                         : nullptr;
}

namespace {

// A step that explains a span of the timelines, or speaks of one again.
bool explains_span(const scenario::Step& step) {
  return step.focus && !step.focus->lane.empty() && !asked_span(step);
}

// A knob, or a line of the listing.
bool points_at_control(const scenario::Focus& focus) {
  return focus.panel.empty() && focus.lane.empty();
}

// A step that has a panel in front, too, leaves the knobs where they stand.
void light_knob(const scenario::Step& step, Attention& attention) {
  if (!step.focus || step.focus->knob.empty() || step.focus->panel.empty()) return;
  attention.lit_knob = step.focus->knob;
  attention.follow_knob = true;
}

// The side is there, and what stands beside it will not change any more.
bool is_there(const scenario::Focus& focus, const Workspace& workspace) {
  const auto& sides = workspace.sides();
  const std::size_t side = focus.run == "B" ? 1 : 0;
  return side < sides.size() && sides[side].run && std::ranges::none_of(sides, &SideModel::busy);
}

}  // namespace

bool StepGuide::follow(std::vector<std::string>& asked) {
  const LessonModel* lesson = workspace_.lesson();
  if (!lesson || !lesson->progress.revealed()) return false;
  const std::pair at{lesson->lesson.id, lesson->progress.step()};
  if (at == pointed_at_) return false;
  const scenario::Step& step = lesson->step();
  const scenario::Focus* to_find = asked_span(step);
  const scenario::Focus* explained = explains_span(step) ? &*step.focus : nullptr;
  for (const scenario::Focus* span : {explained, to_find})
    if (span && !is_there(*span, workspace_)) return false;
  pointed_at_ = at;
  attention_.focused_line = 0;
  // A room that has gone past lanes by N sees what is spoken of all the same.
  if (explained || to_find) workspace_.present.lanes = Present::kLanes;
  show_explained_span(explained, asked);
  if (to_find) show_where_to_look(*to_find);
  show_panel_of(step);
  if (shows_sweep(step)) start_lesson_sweep(workspace_);
  return true;
}

// What a step speaks of besides spans of the timelines.
void StepGuide::show_panel_of(const scenario::Step& step) {
  const bool at_control = step.focus && points_at_control(*step.focus);
  if (at_control) show_focus(*step.focus, workspace_, attention_, false);
  light_knob(step, attention_);
  std::string& panel = attention_.asked_panel;
  if (step.focus && !step.focus->panel.empty())
    panel = panel_to_show(workspace_, step.focus->panel);
  else if (wants_knobs(workspace_))
    panel = "knobs";
  else if (workspace_.present.on && names_code(step) &&
           (at_control || !has_picture(panel_in_front(workspace_))))
    panel = "code";
}

// The whole again once the step is left, unless the learner has moved on to something else. The
// playhead stands where what is shown begins: from there it plays through the span.
void StepGuide::show_explained_span(const scenario::Focus* focus, std::vector<std::string>& asked) {
  const TimelineState& timeline = attention_.timeline;
  const auto shown = std::exchange(explained_range_, std::nullopt);
  if (const auto offset = std::exchange(explained_offset_, std::nullopt);
      offset && workspace_.playhead.offset == *offset)
    set_offset(workspace_, 0);
  if (focus) line_up_with(*focus);
  scenario::Focus span = focus ? *focus : scenario::Focus();
  span.knob.clear();  // which show_panel_of() lights
  if (!focus || !show_focus(span, workspace_, attention_, true)) {
    if (shown && *shown == destination(timeline)) asked.emplace_back("view.fit");
    return;
  }
  explained_range_ = destination(timeline);
  const std::size_t side = focus->run == "B" ? 1 : 0;
  put_playhead(side, explained_range_->start - (side > 0 ? workspace_.playhead.offset : 0));
}

// What compares shows the same of both sides below each other, unless a person has moved B.
void StepGuide::line_up_with(const scenario::Focus& focus) {
  const auto& sides = workspace_.sides();
  if (sides.size() != 2 || workspace_.playhead.offset != explained_offset_.value_or(0)) return;
  if (!sides[0].run || !sides[1].run) return;
  const std::size_t side = focus.run == "B" ? 1 : 0;
  const auto meant = scenario::shown_span(focus, *sides[side].run);
  if (!meant) return;
  const analysis::Run &a = *sides[0].run, &b = *sides[1].run;
  const Nanos length = sides[side].run->trace->spans()[*meant].duration;
  const auto around = static_cast<Nanos>(std::max(focus.pad, 2.0) * static_cast<double>(length));
  // A line says of which work it is: its like is of that line, whatever else bears its name.
  const bool of_line = focus.line > 0 || !focus.code.empty();
  const auto offset = of_line ? offset_to_compare(a, b, side == 1, *meant)
                              : offset_to_compare(a, b, side == 1, *meant, around);
  if (!offset || *offset == workspace_.playhead.offset) return;
  set_offset(workspace_, *offset);
  explained_offset_ = workspace_.playhead.offset;
}

// Its row comes into sight, and so much of the run that it can be found and clicked.
void StepGuide::show_where_to_look(const scenario::Focus& asked) {
  const std::size_t side = asked.run == "B" ? 1 : 0;
  const analysis::Run& run = *workspace_.sides()[side].run;
  const auto meant = scenario::shown_span(asked, run);
  if (!meant) return;
  const trace::Span& span = run.trace->spans()[*meant];
  TimelineState& timeline = attention_.timeline;
  timeline.reveal = {static_cast<Side>(side), *meant};
  std::erase(timeline.collapsed[side], span.lane);
  const auto range = range_to_search(*run.trace, *meant, end_of_sides(workspace_));
  if (!range) return;
  line_up_with(asked);
  const Nanos offset = side > 0 ? workspace_.playhead.offset : 0;
  constexpr double kRoom = 0.1;
  show_range(timeline, {range->start + offset, range->end + offset}, kRoom);
  explained_range_ = destination(timeline);
  // What panels show at the playhead is of the step that is looked at.
  const Nanos here = playhead_of(workspace_, side);
  if (here < range->start || here >= range->end)
    workspace_.playhead.time =
        std::clamp<Nanos>(playhead_at(workspace_, side, range->start), 0, playhead_end(workspace_));
}

void StepGuide::show_me() {
  LessonModel& lesson = *workspace_.lesson();
  const scenario::Step& step = lesson.step();
  const bool find = step.question && step.question->kind == scenario::QuestionKind::kFindSpan;
  lesson.shown = true;
  workspace_.solve();
  if (!find && !step.focus) return;
  const bool is_there = find ? show_answer(*step.question->span)
                             : show_focus(*step.focus, workspace_, attention_, true);
  if (!is_there) workspace_.notice = "The lesson points at something that this run does not have.";
  // Being shown is not finding.
  if (find && !lesson.progress.answer(lesson.progress.step()).committed) workspace_.skip_question();
}

// Among its neighbours, with the playhead on it, whose words tell the step and what goes on.
bool StepGuide::show_answer(scenario::Focus asked) {
  const std::size_t side = asked.run == "B" ? 1 : 0;
  const RunPointer& run = workspace_.sides()[side].run;
  const auto meant = run ? scenario::shown_span(asked, *run) : std::nullopt;
  if (!meant) return false;
  const trace::Span& span = run->trace->spans()[*meant];
  constexpr double kAround = 2;  // its length on each side, where there is so much to see
  const auto length = static_cast<double>(std::max<Nanos>(span.duration, 1));
  asked.pad = std::clamp((static_cast<double>(end_of_sides(workspace_)) / length - 1) / 2,
                         asked.pad, std::max(asked.pad, kAround));
  line_up_with(asked);
  if (!show_focus(asked, workspace_, attention_, true)) return false;
  explained_range_ = destination(attention_.timeline);
  put_playhead(side, span.start);
  return true;
}

void StepGuide::put_playhead(std::size_t side, Nanos time) {
  workspace_.playhead.time =
      std::clamp<Nanos>(playhead_at(workspace_, side, time), 0, playhead_end(workspace_));
}

}  // namespace trainscope::ui
