#include "ui/app/workspace.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "ui/app/moment.h"

namespace trainscope::ui {
namespace {

std::string label_of(std::size_t side) {
  return side == 0 ? "A" : "B";
}

SideModel side_of(std::size_t number, program::Config config) {
  SideModel side;
  side.label = label_of(number);
  side.config = std::move(config);
  return side;
}

// A run under this label; the same one where it has it already.
RunPointer labelled(const RunPointer& run, const std::string& label) {
  if (run->label == label) return run;
  auto copy = std::make_shared<analysis::Run>(*run);
  copy->label = label;
  return copy;
}

void show_run(SideModel& side, const RunPointer& run) {
  side.run = labelled(run, side.label);
  side.view = index_trace(run->trace);
  if (run->program)
    side.outline = std::make_shared<Outline>(outline_of(*run->program, *run->trace));
  side.busy = false;
}

}  // namespace

Workspace::Workspace(std::function<void()> wake)
    : worker_(std::make_unique<Worker>(std::move(wake))) {}

void Workspace::close() {
  for (std::size_t slot = 0; slot < Worker::kSlots; ++slot) worker_->abandon(slot);
  lesson_.reset();
  sides_.clear();
  opened_.clear();
  adopted_.clear();
  fork_.reset();
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
      *shelf_ = scenario::all_lessons();
    } catch (const std::exception& error) {
      shelf_error_ = error.what();
    }
  }
  return *shelf_;
}

void Workspace::open_lesson(scenario::Lesson lesson) {
  close();
  screen_ = Screen::kLesson;
  lesson_ = std::make_unique<LessonModel>(std::move(lesson));
  for (std::size_t i = 0; i < 2; ++i) {
    sides_.push_back(side_of(i, base_config(i)));
    worker_->outline(i, label_of(i), sides_[i].config);
  }
}

void Workspace::open_runs(const std::vector<RunPointer>& runs) {
  close();
  screen_ = Screen::kRuns;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 2); ++i) {
    sides_.push_back(side_of(i, runs[i]->config));
    opened_.push_back(runs[i]->config);
    show_run(sides_[i], runs[i]);
  }
  playhead.time = end() / 2;
}

void Workspace::open_trace(const std::filesystem::path& file) {
  close();
  screen_ = Screen::kRuns;
  sides_.push_back(side_of(0, {}));
  opened_.emplace_back();
  sides_[0].file = file;
  sides_[0].busy = true;
  worker_->import(0, label_of(0), file);
}

program::Config Workspace::base_config(std::size_t side) const {
  if (side < adopted_.size()) return adopted_[side]->config;
  return lesson_ ? lesson_->lesson.side(label_of(side)) : opened_[side];
}

// ---- What comes back ---------------------------------------------------------------------------

bool Workspace::take_reports() {
  std::vector<Report> reports = worker_->reports();
  for (Report& report : reports) take(report);
  if (!reports.empty()) reveal_when_done();
  if (!busy() && end() > 0) playhead.time = std::min(playhead.time, playhead_end());
  return !reports.empty();
}

void Workspace::take(Report& report) {
  if (report.slot >= sides_.size()) return;
  SideModel& side = sides_[report.slot];
  if (report.outline) side.outline = std::move(report.outline);
  if (report.progress) side.progress = *report.progress;
  if (report.view) side.view = std::move(report.view);
  if (report.run) {
    if (!side.file.empty() && !side.run) playhead.time = report.run->facts.measured.window.start;
    side.run = std::move(report.run);
  }
  if (!report.over) return;
  side.error = std::move(report.error);
  side.busy = false;
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
    const bool stopped = std::exchange(side.busy, false);
    side.run = nullptr;
    side.view = nullptr;
    if (!stopped || first_run) continue;
    side.error = side.file.empty() ? "It was cancelled at " + side.progress.percent() +
                                         ", and what there was of it is gone."
                                   : "Reading " + side.file.filename().string() +
                                         " was cancelled; open it again to see it.";
  }
  if (!first_run) return;
  lesson_->run_asked = false;
  notice = "The run was cancelled; nothing of it is kept. Run it again when you like.";
}

void Workspace::reveal_when_done() {
  if (!lesson_ || lesson_->progress.revealed() || !lesson_->run_asked || busy()) return;
  lesson_->run_asked = false;
  if (!sides_[0].run || !sides_[1].run) return;
  lesson_->progress.reveal();
  lesson_->as_run = sides_;
  // Where both sides are still at work, so that both states can be read.
  playhead.time = std::min(sides_[0].run->trace->end(), sides_[1].run->trace->end()) / 2;
}

bool Workspace::busy() const {
  return std::any_of(sides_.begin(), sides_.end(), [](const SideModel& side) { return side.busy; });
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
  const scenario::Step& step = lesson_->step();
  if (step.question && lesson_->progress.answer(lesson_->progress.step()).committed) return false;
  return std::find(step.hide.begin(), step.hide.end(), name) != step.hide.end();
}

bool Workspace::knobs_free() const {
  if (screen_ == Screen::kShelf || sides_.empty() || !revealed()) return false;
  return std::all_of(sides_.begin(), sides_.end(),
                     [](const SideModel& side) { return side.outline && side.file.empty(); });
}

// ---- The lesson --------------------------------------------------------------------------------

void Workspace::start(std::size_t side) {
  sides_[side].busy = true;
  sides_[side].progress = {};
  sides_[side].error.clear();
  worker_->run(side, label_of(side), sides_[side].config);
}

void Workspace::adopt(const std::vector<RunPointer>& runs) {
  adopted_ = runs;
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

void Workspace::next_step() {
  if (!lesson_ || forked() || !lesson_->progress.can_go_on()) return;
  // What was tried on this step is taken back, so that texts and timelines agree on the next.
  reset_knobs();
  lesson_->progress.next();
  lesson_->hint_shown = false;
  lesson_->remark.clear();
}

void Workspace::previous_step() {
  if (!lesson_ || forked()) return;
  reset_knobs();
  lesson_->progress.back();
  lesson_->hint_shown = false;
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
  const std::string line =
      chosen.line > 0 ? ", caused by line " + std::to_string(chosen.line) : std::string();
  lesson_->remark = right ? ""
                          : "That is \"" + trace.name(chosen) + "\" of " + lane + " in " +
                                label_of(side) + line + ". Look again.";
}

// ---- Knobs -------------------------------------------------------------------------------------

void Workspace::set_knob(std::size_t side, const std::string& name, const program::Value& value) {
  if (!knobs_free() || side >= sides_.size()) return;
  try {
    program::Config config = sides_[side].config;
    config.set(name, value);
    if (config == sides_[side].config) return;
    sides_[side].config = std::move(config);
    start(side);
  } catch (const Error& error) {
    notice = error.what();
  }
}

bool Workspace::has_machines() const {
  return !sides_.empty() && std::all_of(sides_.begin(), sides_.end(), [](const SideModel& side) {
    return side.file.empty() && (side.outline || !side.error.empty());
  });
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
  fork_ = Fork{sides_, playhead};
}

void Workspace::return_to_lesson() {
  if (!forked()) return;
  for (std::size_t slot = 0; slot < sides_.size(); ++slot) worker_->abandon(slot);
  sides_ = std::move(fork_->sides);
  playhead = fork_->playhead;
  fork_.reset();
}

bool Workspace::can_align_steps() const {
  return sides_.size() == 2 && std::all_of(sides_.begin(), sides_.end(), [](const auto& side) {
           return side.view && has_steps(*side.view);
         });
}

Nanos Workspace::playhead_of(std::size_t side) const {
  if (side == 0 || !playhead.by_step || !can_align_steps()) return playhead.time;
  return same_step(*sides_[0].view, *sides_[side].view, playhead.time);
}

Nanos Workspace::playhead_end() const {
  return playhead.by_step && can_align_steps() ? sides_[0].view->trace->end() : end();
}

Nanos Workspace::end() const {
  Nanos end = 0;
  for (const SideModel& side : sides_)
    if (side.view) end = std::max(end, side.view->trace->end());
  return end;
}

}  // namespace trainscope::ui
