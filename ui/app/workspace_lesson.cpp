// The workspace's lesson: its runs, its steps, the answers given on the way.

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "scenario/grade.h"
#include "scenario/task_knobs.h"
#include "scenario/wrong_span.h"
#include "ui/app/lesson_answers.h"
#include "ui/app/side_model.h"
#include "ui/app/workspace.h"

namespace trainscope::ui {

void Workspace::open_lesson(scenario::Lesson lesson) {
  show_lesson(std::move(lesson));
  const auto answers = learner_.under_way(lesson_->lesson.id);
  if (is_of_this(answers)) resume(*answers);
}

bool Workspace::is_of_this(const std::optional<scenario::Answers>& answers) const {
  return answers && answers->student == student_ && answers->knobs == opened_with();
}

void Workspace::restart_lesson() {
  if (lesson_) show_lesson(scenario::Lesson(lesson_->lesson));
}

std::optional<Nanos> Workspace::pause_time() const {
  if (!lesson_ || !revealed()) return std::nullopt;
  const scenario::Step& step = lesson_->step();
  if (step.pause_at == scenario::PauseAt::kNowhere) return std::nullopt;
  const std::size_t side = step.focus->run == "B" ? 1 : 0;
  if (side >= sides_.size() || !sides_[side].run || !sides_[side].view) return std::nullopt;
  const analysis::Run& run = *sides_[side].run;
  const auto meant = scenario::shown_span(*step.focus, run);
  if (!meant) return std::nullopt;
  const trace::Span& span = run.trace->spans()[*meant];
  return playhead_at(side,
                     step.pause_at == scenario::PauseAt::kSpanStart ? span.start : span.end());
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
  for (std::size_t i = 0; i < sides_.size(); ++i) start(i);
}

void Workspace::start(std::size_t side) {
  sides_[side].busy = true;
  sides_[side].progress = {};
  sides_[side].error.clear();
  worker_->run(side, SideModel::label_of(side), sides_[side].config);
}

void Workspace::adopt(const std::vector<RunPointer>& runs) {
  adopted_ = runs;
  for (const RunPointer& run : runs) notebook.take_over(*run);
  for (std::size_t i = 0; i < std::min(runs.size(), sides_.size()); ++i)
    if (runs[i]->program)
      sides_[i].outline = std::make_shared<Outline>(outline_of(*runs[i]->program, *runs[i]->trace));
}

bool Workspace::can_run() const {
  return lesson_ && !forked() && !busy() && !lesson_->progress.revealed() &&
         lesson_->step().kind == scenario::StepKind::kRun;
}

void Workspace::run_lesson() {
  if (!can_run()) return;
  lesson_->run_asked = true;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (i < adopted_.size()) {
      sides_[i].config = adopted_[i]->config;
      show_run(sides_[i], adopted_[i]);
    } else {
      start(i);
    }
  }
  reveal_when_done();
}

namespace {

// The knobs of `config` that are others in `base`.
program::Config turned(const program::Config& config, const program::Config& base) {
  program::Config knobs;
  for (const std::string& name : program::differing_knobs(config, base))
    knobs.set(name, config.value(name));
  return knobs;
}

}  // namespace

scenario::TurnedKnobs Workspace::opened_with() const {
  scenario::TurnedKnobs knobs;
  if (!lesson_) return knobs;
  knobs.a = lesson_->lesson.turned(SideModel::label_of(0), base_config(0));
  knobs.b = lesson_->lesson.turned(SideModel::label_of(1), base_config(1));
  return knobs;
}

scenario::TurnedKnobs Workspace::turned_knobs() const {
  scenario::TurnedKnobs knobs;
  if (sides_.size() != 2) return knobs;
  knobs.a = turned(sides_[0].config, base_config(0));
  knobs.b = turned(sides_[1].config, base_config(1));
  return knobs;
}

void Workspace::note_task() {
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
                    strays(lesson_->lesson, step, opened_with(), *given.knobs).empty();
  } catch (const Error&) {
    given.reached = false;  // a metric that the runs as turned do not have
  }
}

void Workspace::keep_learner_in(std::filesystem::path folder) {
  learner_ = scenario::Learner(std::move(folder));
  if (!learner_.fault().empty()) notice = learner_.fault();
}

void Workspace::keep_answers() {
  if (!lesson_ || !lesson_->kept) return;
  const LessonModel& model = *lesson_;
  std::size_t committed = 0;
  for (std::size_t i = 0; i < model.progress.steps(); ++i)
    committed += is_answered(model, i) ? 1 : 0;
  const GivenAnswers given{committed, model.noted.steps.size(), model.progress.step(),
                           model.progress.revealed()};
  if (given == kept_ || (committed == 0 && model.noted.steps.empty())) return;
  kept_ = given;
  try {
    learner_.keep(answers_of(model, opened_with(), student_), record_of(model), take_decided());
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
  note_task();
  const scenario::Step& step = lesson_->step();
  scenario::StepAnswer& given = lesson_->noted.at(step.id);
  if (!given.reached) given.answer.skipped = given.answer.committed = true;
  ConfigHistory::State configs;
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    configs.push_back(base_config(i));
    configs.back().override_with(step.solution->of(SideModel::label_of(i)));
  }
  remember("solution");
  restore(configs);
}

void Workspace::next_step() {
  if (!lesson_ || forked() || !lesson_->progress.can_go_on()) return;
  note_task();
  // What was tried on this step is taken back, so that texts and timelines agree on the next.
  reset_knobs();
  history_.clear();
  lesson_->progress.next();
  lesson_->hint_shown = lesson_->shown = false;
  lesson_->remark.clear();
}

void Workspace::previous_step() {
  if (!lesson_ || forked()) return;
  reset_knobs();
  history_.clear();
  lesson_->progress.back();
  lesson_->hint_shown = lesson_->shown = false;
  lesson_->remark.clear();
}

void Workspace::skip_question() {
  if (!lesson_ || !lesson_->step().question) return;
  lesson_->progress.skip();
  lesson_->remark.clear();
}

void Workspace::select_span(std::size_t side, trace::SpanId span) {
  if (!lesson_ || forked() || side >= sides_.size() || !sides_[side].view) return;
  // A run under way is not yet the one that the question is about.
  if (!sides_[side].run || sides_[side].run->trace != sides_[side].view->trace) return;
  const auto& question = lesson_->step().question;
  if (!question || question->kind != scenario::QuestionKind::kFindSpan) return;
  if (lesson_->progress.answer(lesson_->progress.step()).committed) return;
  const trace::Trace& trace = *sides_[side].view->trace;
  const trace::Span& chosen = trace.spans()[span];
  const std::string& lane = trace.lanes()[chosen.lane].name;
  const bool right = lesson_->progress.select_span(*sides_[side].run, span);
  if (right)
    lesson_->noted.at(lesson_->step().id).span =
        scenario::ChosenSpan{SideModel::label_of(side), lane, trace.name(chosen), chosen.start};
  const std::string line =
      chosen.line > 0 ? ", " + lesson_->lesson.say("line") + " " + std::to_string(chosen.line) : "";
  lesson_->remark =
      right ? ""
            : SideModel::label_of(side) + ", " + lane + ": \"" + trace.name(chosen) + "\"" + line +
                  ". " +
                  scenario::wrong_span(lesson_->lesson, *question->span, *sides_[side].run, span);
}

}  // namespace trainscope::ui
