#include "ui/app/workspace.h"

#include <algorithm>
#include <utility>

#include "analysis/run_file.h"
#include "base/error.h"
#include "ui/app/moment.h"

namespace trainscope::ui {
Workspace::Workspace(std::function<void()> wake, analysis::GpuRuns::OpenDevice open)
    : worker_(std::make_unique<Worker>(wake, std::move(open))),
      sweep_(wake),
      watch_(std::move(wake)) {}

void Workspace::close() {
  for (std::size_t slot = 0; slot < Worker::kSlots; ++slot) worker_->abandon(slot);
  lesson_.reset();
  watch_.watch({});
  sides_.clear();
  opened_.clear();
  adopted_.clear();
  fork_.reset();
  history_.clear();
  linked_ = {};
  present.begin_again();
  sweep_.clear();
  sweep_form_.reset();
  kept_ = {};
  revisit_.prepare({});
  kept_runs_.clear();
  kept_so_far_ = 0;
  offset_ = 0;
  playhead = {};
}

void Workspace::show_shelf() {
  close();
  screen_ = Screen::kShelf;
}

const std::vector<scenario::Lesson>& Workspace::shelf() {
  if (!shelf_) {
    shelf_.emplace();
    try {
      scenario::Shelf read = scenario::readable_lessons(language_);
      *shelf_ = std::move(read.lessons);
      if (!read.unreadable.empty()) shelf_error_ = read.unreadable.front();
    } catch (const std::exception& error) {
      shelf_error_ = error.what();
    }
  }
  return *shelf_;
}

void Workspace::show_lesson(scenario::Lesson lesson) {
  close();
  screen_ = Screen::kLesson;
  lesson_ = std::make_unique<LessonModel>(std::move(lesson));
  for (std::size_t i = 0; i < 2; ++i) {
    sides_.push_back(side_of(i, base_config(i)));
    worker_->outline(i, SideModel::label_of(i), sides_[i].config);
  }
  prepare_revisit();
  tell_translation();
  watch_lesson();
}

void Workspace::open_runs(const std::vector<RunPointer>& runs, const std::filesystem::path& file) {
  close();
  screen_ = Screen::kRuns;
  Nanos end = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 2); ++i) {
    read_run(i, runs[i], file);
    end = std::max(end, runs[i]->trace->end());
  }
  playhead.time = end / 2;
  // A recording may begin long after its clock's zero.
  if (runs.size() == 1 && is_imported(sides_[0])) {
    const analysis::Interval& whole = runs.front()->facts.measured.whole;
    playhead.time = whole.start + (whole.end - whole.start) / 2;
  }
}

void Workspace::open_trace(const std::filesystem::path& file) {
  close();
  screen_ = Screen::kRuns;
  read_trace(0, file);
}

program::Config Workspace::base_config(std::size_t side) const {
  if (side < adopted_.size()) return adopted_[side]->config;
  if (!lesson_) return opened_[side];
  program::Config flags;
  if (!student_.empty())
    flags.set("seed", scenario::seed_of_student(student_, lesson_->lesson.seeds));
  return lesson_->lesson.side(SideModel::label_of(side), flags);
}

// ---- What comes back ---------------------------------------------------------------------------

bool Workspace::take_reports() {
  std::vector<Report> reports = worker_->reports();
  for (Report& report : reports) take(report);
  level();
  const bool swept = sweep_.take();
  if (!reports.empty()) reveal_when_done();
  if (!busy() && end() > 0) playhead.time = std::min(playhead.time, playhead_end());
  begin_revisit();
  const bool asks_again = revisit_.take();
  return !reports.empty() || swept || asks_again;
}

void Workspace::take(Report& report) {
  if (report.slot >= sides_.size()) return;
  SideModel& side = sides_[report.slot];
  if (report.outline) side.outline = std::move(report.outline);
  if (report.progress) side.progress = *report.progress;
  if (report.view) side.view = std::move(report.view);
  if (report.run) {
    if (!side.file.empty() && !side.run && report.slot == 0)
      playhead.time = report.run->facts.measured.window.start;
    side.stepped = report.whole ? side.run : nullptr;
    side.run = std::move(report.run);
  }
  if (!report.over) return;
  side.busy = false;
  if (!report.refusal.empty()) {
    notice = "Nothing was measured, and what is shown stays: " + report.refusal;
    return;
  }
  side.error = std::move(report.error);
  if (!side.error.empty()) {
    side.run = nullptr;
    side.view = nullptr;
  }
}

void Workspace::cancel() {
  if (!busy()) return;
  const bool first_run = lesson_ && !lesson_->progress.revealed();
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    SideModel& side = sides_[i];
    if (!side.busy && !first_run) continue;
    worker_->abandon(i);
    if (side.busy && side.progress.measuring) {
      side.busy = false;
      notice = "Measuring was cancelled, and what is shown stays.";
      continue;
    }
    const bool stopped = std::exchange(side.busy, false);
    side.run = nullptr;
    side.view = nullptr;
    if (first_run && !side.outline) worker_->outline(i, side.label, side.config);
    if (!stopped || first_run) continue;
    if (side.progress.opening) {
      side.error = "Opening it was cancelled; open it again to see it.";
      continue;
    }
    side.error = side.file.empty() ? "It was cancelled at " + side.progress.percent() +
                                         ", and what there was of it is gone."
                                   : "Reading " + side.file.filename().string() +
                                         " was cancelled; open it again to see it.";
  }
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
    const Nanos step = (measured.window.end - measured.window.start) / measured.steps;
    time = std::max(time, measured.window.start + step / 2);
  }
  return time < both ? time : both / 2;
}

}  // namespace

void Workspace::reveal_when_done() {
  if (!lesson_ || lesson_->progress.revealed() || !lesson_->run_asked || busy()) return;
  lesson_->run_asked = false;
  if (!sides_[0].run || !sides_[1].run) return;
  lesson_->progress.reveal();
  lesson_->as_run = sides_;
  playhead.time = time_to_look_at(*sides_[0].run, *sides_[1].run);
  turn_as_linked();
}

bool Workspace::busy() const {
  return std::any_of(sides_.begin(), sides_.end(), [](const SideModel& side) { return side.busy; });
}

bool Workspace::outlining() const {
  return std::any_of(sides_.begin(), sides_.end(), [](const SideModel& side) {
    return !side.busy && !side.outline && !side.run && side.error.empty() && side.file.empty();
  });
}

scenario::Sides Workspace::lesson_sides() const {
  scenario::Sides sides;
  if (!lesson_) return sides;
  for (const SideModel& side : lesson_->as_run)
    if (side.run) sides.push_back(side.run.get());
  return sides;
}

scenario::Sides Workspace::current_sides() const {
  scenario::Sides sides;
  for (const SideModel& side : sides_)
    if (side.run && !side.busy) sides.push_back(side.run.get());
  if (sides.size() != sides_.size()) sides.clear();
  return sides;
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
  return screen_ != Screen::kShelf && revealed() && side < sides_.size() && sides_[side].outline &&
         !is_imported(sides_[side]);
}

bool Workspace::knobs_free() const {
  const std::vector<std::size_t> sides = sides_with_knobs();
  return !sides.empty() &&
         std::all_of(sides.begin(), sides.end(), [&](std::size_t i) { return knobs_free(i); });
}

std::vector<std::size_t> Workspace::sides_with_knobs() const {
  std::vector<std::size_t> sides;
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (!is_imported(sides_[i])) sides.push_back(i);
  return sides;
}

// ---- Knobs -------------------------------------------------------------------------------------

void Workspace::set_knob(std::size_t side, const std::string& name, const program::Value& value) {
  set_knobs(side, {{name, value}});
}

void Workspace::set_knobs(std::size_t side,
                          const std::vector<std::pair<std::string, program::Value>>& values) {
  if (!knobs_free() || !knobs_free(side)) return;
  try {
    program::Config config = sides_[side].config;
    std::string change = sides_[side].label;
    for (const auto& [name, value] : values) {
      config.set(name, value);
      change += "." + name;
    }
    if (config == sides_[side].config) return;
    remember(change);
    sides_[side].config = std::move(config);
    start(side);
  } catch (const Error& error) {
    notice = error.what();
  }
}

bool Workspace::has_machines() const {
  bool any = false;
  for (const SideModel& side : sides_) {
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
      std::string words;
      for (const std::string& one : allowed) words += (words.empty() ? "" : ", ") + one;
      return "This lesson is made for " + words + ".";
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
  if (!knobs_free()) return false;
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (!program::differing_knobs(sides_[i].config, base_config(i)).empty()) return true;
  return false;
}

void Workspace::reset_knobs() {
  if (!knobs_changed()) return;
  remember("all knobs");
  for (std::size_t i = 0; i < sides_.size(); ++i) {
    if (program::differing_knobs(sides_[i].config, base_config(i)).empty()) continue;
    if (lesson_ && !lesson_->as_run.empty()) {
      worker_->abandon(i);
      sides_[i] = lesson_->as_run[i];
    } else {
      sides_[i].config = base_config(i);
      start(i);
    }
  }
}

// Not before the result: exploring would give the answer away.
bool Workspace::can_explore() const {
  return lesson_ && !forked() && !busy() && lesson_->progress.revealed();
}

void Workspace::explore() {
  if (!can_explore()) return;
  fork_ = Fork{sides_, playhead, history_};
  history_.clear();
}

void Workspace::return_to_lesson() {
  if (!forked()) return;
  for (std::size_t slot = 0; slot < sides_.size(); ++slot) worker_->abandon(slot);
  sides_ = std::move(fork_->sides);
  playhead = fork_->playhead;
  history_ = std::move(fork_->history);
  fork_.reset();
}

bool Workspace::can_align_steps() const {
  return sides_.size() == 2 && std::all_of(sides_.begin(), sides_.end(), [](const auto& side) {
           return side.view && has_steps(*side.view);
         });
}

Nanos Workspace::playhead_of(std::size_t side) const {
  if (side == 0) return playhead.time;
  if (!playhead.by_step || !can_align_steps()) return std::max<Nanos>(0, playhead.time - offset_);
  return same_step(*sides_[0].view, *sides_[side].view, playhead.time);
}

Nanos Workspace::playhead_at(std::size_t side, Nanos time) const {
  if (side == 0) return time;
  if (!playhead.by_step || !can_align_steps()) return time + offset_;
  return same_step(*sides_[side].view, *sides_[0].view, time);
}

Nanos Workspace::playhead_end() const {
  return playhead.by_step && can_align_steps() ? end_of(*sides_[0].view) : end();
}

Nanos Workspace::end() const {
  Nanos end = 0;
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (sides_[i].view) end = std::max(end, end_of(*sides_[i].view) + (i > 0 ? offset_ : 0));
  return end;
}

}  // namespace trainscope::ui
