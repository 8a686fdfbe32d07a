// The workspace's lesson: its runs, its steps, the answers given on the way.

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/config_difference.h"
#include "scenario/extreme.h"
#include "scenario/grade.h"
#include "scenario/solution.h"
#include "scenario/task_knobs.h"
#include "scenario/wrong_span.h"
#include "ui/app/workspace/side_model.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

void Workspace::open_lesson(scenario::Lesson lesson) {
  show_lesson(std::move(lesson));
  const auto answers = record.learner().under_way(lesson_->lesson.id);
  tell_unread_answers();
  if (record.is_of_this(answers, opened_with())) resume(*answers);
}

void Workspace::restart_lesson() {
  if (lesson_) show_lesson(scenario::Lesson(lesson_->lesson));
}

namespace {

// Not of a question that had more options when it was answered.
bool is_of(const scenario::StepAnswer& answer, const scenario::Step& step) {
  if (!step.question || answer.answer.option < 0) return true;
  return answer.answer.option < static_cast<int>(step.question->options.size()) ||
         step.question->kind != scenario::QuestionKind::kChoice;
}

}  // namespace

// At a step, and then questions before it that have no answer are passed over; or else at the first
// one after the last answer, but no later than at a question without one. The runs before it, which
// were seen, are made again.
void Workspace::resume(const scenario::Answers& answers, std::optional<std::size_t> at) {
  const std::vector<scenario::Step>& steps = lesson_->lesson.steps;
  std::vector<scenario::Answer> given(steps.size());
  std::size_t reached = 0, unanswered = steps.size();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const scenario::StepAnswer* answer = answers.find(steps[i].id);
    if (answer && is_of(*answer, steps[i])) {
      given[i] = answer->answer;
      lesson_->noted.at(steps[i].id) = *answer;
      if (answer->answer.committed || answer->knobs) reached = i + 1;
    } else if (at && i < *at && steps[i].question) {
      given[i].committed = given[i].skipped = true;
      lesson_->passed_over.insert(i);
    }
    if (steps[i].question && !given[i].committed) unanswered = std::min(unanswered, i);
  }
  const std::size_t run = scenario::run_step(lesson_->lesson);
  // What was decided in the attempt that goes on is no news.
  for (const scenario::StepAnswer& answer : answers.steps)
    if (reached > run && answer.answer.committed) lesson_->told.insert(answer.step);
  lesson_->progress.resume(std::move(given), at.value_or(std::min(reached, unanswered)));
  if (lesson_->progress.step() <= run) return;
  lesson_->run_asked = true;
  for (std::size_t i = 0; i < sides().size(); ++i) desk_.start(i);
}

void Workspace::adopt(const std::vector<RunPointer>& runs) {
  adopted_ = runs;
  for (const RunPointer& run : runs) notebook.take_over(*run);
  for (std::size_t i = 0; i < std::min(runs.size(), sides().size()); ++i) desk_.expect(i, *runs[i]);
}

bool Workspace::can_run() const {
  return lesson_ && !forked() && !busy() && !lesson_->progress.revealed() &&
         lesson_->step().kind == scenario::StepKind::kRun;
}

void Workspace::run_lesson() {
  if (!can_run()) return;
  lesson_->run_asked = true;
  for (std::size_t i = 0; i < sides().size(); ++i) {
    if (i < adopted_.size())
      desk_.show(i, adopted_[i]);
    else
      desk_.start(i);
  }
  reveal_when_done();
}

namespace {

// The knobs of `config` that are others in `base`.
program::Config turned(const program::Config& config, const program::Config& base) {
  return program::difference(base, config);
}

}  // namespace

namespace {

// As it was found; who goes on before that waits for it. Who is shown (`waits` is false) has not
// reached it yet.
bool is_further(const scenario::Lesson& lesson, const scenario::Step& step,
                const scenario::Sides& sides, const std::optional<bool>& found, bool waits) {
  if (found) return *found;
  return !waits || scenario::goes_further(lesson, step, sides);
}

}  // namespace

scenario::TurnedKnobs Workspace::opened_with() const {
  scenario::TurnedKnobs knobs;
  if (!lesson_) return knobs;
  knobs.a = lesson_->lesson.turned(SideModel::label_of(0), sides()[0].opened);
  knobs.b = lesson_->lesson.turned(SideModel::label_of(1), sides()[1].opened);
  return knobs;
}

scenario::TurnedKnobs Workspace::turned_knobs() const {
  scenario::TurnedKnobs knobs;
  if (sides().size() != 2) return knobs;
  knobs.a = turned(sides()[0].config, sides()[0].opened);
  knobs.b = turned(sides()[1].config, sides()[1].opened);
  return knobs;
}

void Workspace::ask_further() {
  if (!lesson_ || forked() || busy() || !lesson_->progress.revealed()) return;
  const scenario::Step& step = lesson_->step();
  if (!step.extreme || sides().size() != 2 || !sides()[0].run || !sides()[1].run) return;
  const scenario::Sides now = current_sides();
  if (further_.goes_further(step, now) || !is_reached(*scenario::task_of(step), now)) return;
  further_.ask(lesson_->lesson, step, {sides()[0].run, sides()[1].run});
}

std::optional<bool> Workspace::goes_further() const {
  return lesson_ ? further_.goes_further(lesson_->step(), current_sides()) : false;
}

void Workspace::note_task(bool waits) {
  const scenario::Step& step = lesson_->step();
  const scenario::Expression* task = scenario::task_of(step);
  if (!task || !knobs_changed()) return;
  const scenario::StepAnswer* before = lesson_->noted.find(step.id);
  if (before && before->answer.skipped) return;  // they are those that were shown
  scenario::StepAnswer& given = lesson_->noted.at(step.id);
  given.knobs = turned_knobs();
  const scenario::Sides sides = current_sides();
  try {
    given.reached = !sides.empty() && task->evaluate(sides).truth() &&
                    strays(lesson_->lesson, step, opened_with(), *given.knobs).empty() &&
                    !is_further(lesson_->lesson, step, sides, goes_further(), waits);
  } catch (const Error&) {
    given.reached = false;  // a metric that the runs as turned do not have
  }
}

void Workspace::keep_learner_in(std::filesystem::path folder) {
  record.keep_in(std::move(folder));
  tell_unread_answers();
}

void Workspace::tell_unread_answers() {
  if (std::string fault = record.learner().take_fault(); !fault.empty()) notice = std::move(fault);
}

void Workspace::keep_answers() {
  if (!lesson_) return;
  try {
    record.keep(*lesson_, opened_with(), present.on);
    tell_unread_answers();
  } catch (const Error& error) {
    notice = std::string("Your answers could not be kept: ") + error.what();
  }
}

void Workspace::show_hint() {
  if (!lesson_) return;
  lesson_->hint_shown = true;
  lesson_->noted.at(lesson_->step().id).hinted = true;
}

bool Workspace::can_solve() const {
  return lesson_ && !forked() && lesson_->step().solution && knobs_free();
}

void Workspace::solve() {
  if (!can_solve()) return;
  note_task(false);
  const scenario::Step& step = lesson_->step();
  scenario::StepAnswer& given = lesson_->noted.at(step.id);
  if (!given.reached) given.answer.skipped = given.answer.committed = true;
  // Of what is asked the least for, that of this machine and of these knobs.
  const std::vector<SideModel>& own = lesson_->as_run;
  if (step.extreme && lesson_sides().size() == 2)
    solving_.ask(lesson_->lesson, step, {own[0].run, own[1].run});
  else
    turn_to(*step.solution);
}

void Workspace::turn_to(const scenario::TurnedKnobs& solution) {
  ConfigHistory::State configs;
  for (const SideModel& side : sides()) {
    configs.push_back(side.opened);
    configs.back().override_with(solution.of(side.label));
  }
  remember("solution");
  restore(configs);
}

void Workspace::next_step() {
  if (!lesson_ || forked() || !lesson_->progress.can_go_on()) return;
  note_task();
  leave_step();
  lesson_->progress.next();
}

void Workspace::previous_step() {
  if (!lesson_ || forked()) return;
  leave_step();
  lesson_->progress.back();
}

// What was tried on it is taken back, so that texts and timelines agree on the next.
void Workspace::leave_step() {
  solving_.drop();
  reset_knobs();
  history_.clear();
  lesson_->hint_shown = lesson_->shown = false;
  lesson_->remark.clear();
}

void Workspace::skip_question() {
  if (!lesson_ || !lesson_->step().question) return;
  lesson_->progress.skip();
  lesson_->remark.clear();
}

void Workspace::select_span(std::size_t side, trace::SpanId span) {
  if (!lesson_ || forked() || side >= sides().size() || !sides()[side].view) return;
  // A run under way is not yet the one that the question is about.
  if (!sides()[side].run || sides()[side].run->trace != sides()[side].view->trace) return;
  const auto& question = lesson_->step().question;
  if (!question || question->kind != scenario::QuestionKind::kFindSpan) return;
  if (lesson_->progress.answer(lesson_->progress.step()).committed) return;
  const trace::Trace& trace = *sides()[side].view->trace;
  const trace::Span& chosen = trace.spans()[span];
  const std::string& lane = trace.lanes()[chosen.lane].name;
  const bool right = lesson_->progress.select_span(*sides()[side].run, span);
  if (right)
    lesson_->noted.at(lesson_->step().id).span =
        scenario::ChosenSpan{SideModel::label_of(side), lane, trace.name(chosen), chosen.start};
  const std::string line =
      chosen.line > 0 ? ", " + lesson_->lesson.say("line") + " " + std::to_string(chosen.line) : "";
  lesson_->remark =
      right ? ""
            : SideModel::label_of(side) + ", " + lane + ": \"" + trace.name(chosen) + "\"" + line +
                  ". " +
                  scenario::wrong_span(lesson_->lesson, *question->span, *sides()[side].run, span);
}

}  // namespace trainscope::ui
