#include "ui/app/workspace/workspace.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace trainscope::ui {
Workspace::Workspace(std::function<void()> wake, analysis::GpuRuns::OpenDevice open)
    : sweep(wake), desk_(wake, std::move(open)), watch_(std::move(wake)) {}

void Workspace::close() {
  desk_.clear();
  lesson_.reset();
  watch_.watch({});
  adopted_.clear();
  fork_.reset();
  history_.clear();
  linked_ = {};
  present.begin_again();
  sweep.clear();
  sweep_form.reset();
  record.begin();
  revisit_.prepare({});
  further_.drop();
  solving_.drop();
  kept.clear();
  playhead = {};
}

void Workspace::show_shelf() {
  close();
  screen_ = Screen::kShelf;
}

program::Config Workspace::lesson_config(std::size_t side) const {
  const scenario::Lesson& lesson = lesson_->lesson;
  program::Config flags;
  if (!record.student().empty())
    flags.set("seed", scenario::seed_of_student(record.student(), lesson.seeds));
  return lesson.side(SideModel::label_of(side), flags);
}

void Workspace::show_lesson(scenario::Lesson lesson) {
  close();
  screen_ = Screen::kLesson;
  lesson_ = std::make_unique<LessonModel>(std::move(lesson));
  for (std::size_t i = 0; i < 2; ++i) desk_.outline(i, lesson_config(i));
  prepare_revisit();
  tell_translation();
  watch_lesson();
}

// ---- What comes back ---------------------------------------------------------------------------

bool Workspace::take_reports() {
  RunDesk::Taken taken = desk_.take();
  if (taken.look_at) playhead.time = *taken.look_at;
  if (!taken.notice.empty()) notice = std::move(taken.notice);
  if (screen_ == Screen::kRuns) desk_.level();
  const bool swept = sweep.take();
  if (taken.any) reveal_when_done();
  if (!busy() && end_of_sides(*this) > 0)
    playhead.time = std::min(playhead.time, playhead_end(*this));
  begin_revisit();
  const bool asks_again = revisit_.take();
  ask_further();
  const bool weighed = further_.take();
  const std::optional<scenario::TurnedKnobs> solution = solving_.take();
  if (solution) turn_to(*solution);
  if (std::string why = solving_.fault(); !why.empty()) {
    notice = "What the task asks for could not be found: " + std::move(why);
    solving_.drop();
  }
  if (asks_again && !revisit_.fault().empty())
    notice = "No question of an earlier lesson can be asked: " + revisit_.fault();
  return taken.any || swept || asks_again || weighed || solution;
}

void Workspace::cancel() {
  if (!busy()) return;
  const bool first_run = lesson_ && !lesson_->progress.revealed();
  if (std::string kept_as_it_was = desk_.cancel(first_run); !kept_as_it_was.empty())
    notice = std::move(kept_as_it_was);
  if (!first_run) return;
  lesson_->run_asked = false;
  notice = "The run was cancelled; nothing of it is kept. Run it again when you like.";
}

namespace {

// Where both sides are still at work, so that both states can be read; and, if it can be, in a step
// that is no warm-up of either.
Nanos time_to_look_at(const analysis::Run& a, const analysis::Run& b) {
  const Nanos both = std::min(a.trace->end(), b.trace->end());
  Nanos time = both / 2;
  for (const analysis::Run* run : {&a, &b}) {
    const analysis::Measured& measured = run->facts.measured;
    if (measured.steps == 0) continue;
    const analysis::Interval steps = measured.first_window();
    time = std::max(time, steps.start + (steps.end - steps.start) / measured.steps / 2);
  }
  return time < both ? time : both / 2;
}

}  // namespace

void Workspace::reveal_when_done() {
  if (!lesson_ || lesson_->progress.revealed() || !lesson_->run_asked || busy()) return;
  lesson_->run_asked = false;
  if (!sides()[0].run || !sides()[1].run) return;
  lesson_->progress.reveal();
  lesson_->as_run = sides();
  playhead.time = time_to_look_at(*sides()[0].run, *sides()[1].run);
  turn_as_linked();
}

scenario::Sides Workspace::lesson_sides() const {
  scenario::Sides sides;
  if (!lesson_) return sides;
  for (const SideModel& side : lesson_->as_run)
    if (side.run) sides.push_back(side.run.get());
  return sides;
}

scenario::Sides Workspace::current_sides() const {
  scenario::Sides runs;
  for (const SideModel& side : sides())
    if (side.run && !side.busy) runs.push_back(side.run.get());
  if (runs.size() != sides().size()) runs.clear();
  return runs;
}

bool Workspace::revealed() const {
  return !lesson_ || lesson_->progress.revealed();
}

bool Workspace::hides(std::string_view name) const {
  if (!lesson_ || forked()) return false;
  if (name == "code" && hides_differences()) return true;
  const scenario::Step& step = lesson_->step();
  if (step.question && lesson_->progress.answer(lesson_->progress.step()).committed) return false;
  return std::find(step.hide.begin(), step.hide.end(), name) != step.hide.end();
}

bool Workspace::hides_differences() const {
  if (!lesson_ || forked() || revealed()) return false;
  const std::vector<scenario::Step>& steps = lesson_->lesson.steps;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (std::ranges::find(steps[i].hide, "code") != steps[i].hide.end())
      return steps[i].kind == scenario::StepKind::kPredict &&
             !lesson_->progress.answer(i).committed;
  return false;
}

bool Workspace::knobs_free(std::size_t side) const {
  return screen_ != Screen::kShelf && revealed() && side < sides().size() &&
         sides()[side].outline && !is_imported(sides()[side]);
}

bool Workspace::knobs_free() const {
  const std::vector<std::size_t> own = sides_with_knobs();
  return !own.empty() && std::ranges::all_of(own, [&](std::size_t i) { return knobs_free(i); });
}

std::vector<std::size_t> Workspace::sides_with_knobs() const {
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < sides().size(); ++i)
    if (!is_imported(sides()[i])) own.push_back(i);
  return own;
}

// ---- Knobs -------------------------------------------------------------------------------------

void Workspace::set_knob(std::size_t side, const std::string& name, const program::Value& value) {
  set_knobs(side, {{name, value}});
}

void Workspace::set_knobs(std::size_t side,
                          const std::vector<std::pair<std::string, program::Value>>& values) {
  if (!knobs_free() || !knobs_free(side)) return;
  try {
    program::Config config = sides()[side].config;
    std::string change = sides()[side].label;
    for (const auto& [name, value] : values) {
      config.set(name, value);
      change += "." + name;
    }
    if (config == sides()[side].config) return;
    remember(change);
    desk_.carry_out(side, std::move(config));
  } catch (const Error& error) {
    notice = error.what();
  }
}

bool Workspace::has_machines() const {
  bool any = false;
  for (const SideModel& side : sides()) {
    if (is_imported(side) || is_replay(side)) continue;
    if (!side.outline && side.error.empty()) return false;
    any = true;
  }
  return any;
}

std::string Workspace::machine_refusal(const std::string& id) const {
  if (!has_machines()) return "A recording stays on the machine that made it.";
  if (lesson_) {
    const auto& allowed = lesson_->lesson.machines;
    if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), id) == allowed.end()) {
      return "This lesson is made for " + joined(allowed) + ".";
    }
    if (!revealed()) return "Another machine can be tried once the lesson has run.";
    if (!forked() && busy()) return "The lesson is still running.";
  }
  return "";
}

void Workspace::set_machine(std::size_t side, const std::string& id) {
  if (machine_refusal(id).empty()) set_knob(side, "machine", id);
}

bool Workspace::knobs_changed() const {
  return knobs_free() && std::ranges::any_of(sides(), [](const SideModel& side) {
           return !program::differing_knobs(side.config, side.opened).empty();
         });
}

void Workspace::reset_knobs() {
  if (!knobs_changed()) return;
  remember("all knobs");
  ConfigHistory::State opened;
  for (const SideModel& side : sides()) opened.push_back(side.opened);
  restore(opened);
}

// Not before the result: exploring would give the answer away.
bool Workspace::can_explore() const {
  return lesson_ && !forked() && !busy() && lesson_->progress.revealed();
}

void Workspace::explore() {
  if (!can_explore()) return;
  solving_.drop();
  fork_ = Fork{sides(), playhead, history_};
  history_.clear();
}

void Workspace::return_to_lesson() {
  if (!forked()) return;
  desk_.put_back(std::move(fork_->sides));
  playhead = fork_->playhead;
  history_ = std::move(fork_->history);
  fork_.reset();
}

}  // namespace trainscope::ui
