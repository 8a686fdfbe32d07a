// The workspace's sides outside lessons: what is opened, alone or beside another.

#include <algorithm>
#include <utility>

#include "analysis/level.h"
#include "analysis/run_file.h"
#include "analysis/what_if.h"
#include "ui/app/workspace.h"

namespace trainscope::ui {
namespace {

// It can be drawn, with all that is said of it, before anyone notices a wait.
bool is_at_once(const analysis::Run& run) {
  constexpr std::uint32_t kMostSpans = 100'000;
  return analysis::is_analysed(run) && run.trace->spans().size() <= kMostSpans;
}

// Its own metrics are there, and those of all of it are being computed.
bool is_being_levelled(const SideModel& side) {
  return side.busy && side.progress.opening && side.run;
}

}  // namespace

SideModel& Workspace::place(std::size_t slot, program::Config config) {
  worker_->abandon(slot);
  sides_.resize(std::max(sides_.size(), slot + 1));
  opened_.resize(sides_.size());
  opened_[slot] = config;
  return sides_[slot] = side_of(slot, std::move(config));
}

void Workspace::read_run(std::size_t slot, const RunPointer& run,
                         const std::filesystem::path& file) {
  SideModel& side = place(slot, run->config);
  notebook.take_over(*run);
  if (is_at_once(*run)) {
    show_run(side, run);
    return;
  }
  side.busy = true;
  side.progress.opening = true;
  worker_->open(slot, side.label, run, file.string());
}

void Workspace::read_trace(std::size_t slot, const std::filesystem::path& file) {
  SideModel& side = place(slot, {});
  side.file = file;
  side.busy = true;
  worker_->import(slot, side.label, file);
}

void Workspace::run_config(std::size_t slot, program::Config config) {
  const SideModel& side = place(slot, std::move(config));
  worker_->outline(slot, side.label, side.config);
  start(slot);
}

// A's own metrics come back: another B may have steps.
void Workspace::forget_pair() {
  history_.clear();
  sweep_.clear();
  sweep_form_.reset();
  offset_ = 0;
  playhead.by_step = playhead.playing = false;
  SideModel& a = sides_.front();
  if (is_being_levelled(a)) {
    worker_->abandon(0);
    a.busy = false;
  }
  if (a.stepped) a.run = std::exchange(a.stepped, nullptr);
}

void Workspace::open_run_beside(const RunPointer& run, const std::filesystem::path& file) {
  if (!can_open_beside()) return;
  forget_pair();
  read_run(1, run, file);
}

void Workspace::open_trace_beside(const std::filesystem::path& file) {
  if (!can_open_beside()) return;
  forget_pair();
  read_trace(1, file);
}

void Workspace::open_config_beside(program::Config config) {
  if (!can_open_beside()) return;
  forget_pair();
  run_config(1, std::move(config));
}

void Workspace::copy_beside() {
  if (can_copy_beside()) open_config_beside(sides_.front().config);
}

bool Workspace::can_replay_beside() const {
  if (!can_open_beside() || sides_.size() != 1) return false;
  const SideModel& a = sides_.front();
  return !a.file.empty() && a.run && analysis::can_replay(*a.run);
}

void Workspace::replay_beside(const std::string& settings) {
  if (sides_.empty()) return;
  const SideModel& a = sides_.front();
  const bool turns_knobs = a.run && a.run->program && can_copy_beside();
  if (turns_knobs || can_replay_beside())
    open_config_beside(analysis::config_with(*a.run, a.file.string(), settings));
}

void Workspace::close_beside() {
  if (!can_close_beside()) return;
  forget_pair();
  worker_->abandon(1);
  sides_.pop_back();
  opened_.pop_back();
}

void Workspace::level() {
  if (screen_ != Screen::kRuns || sides_.size() != 2 || busy()) return;
  if (!sides_[0].run || !sides_[1].run) return;
  for (std::size_t i = 0; i < 2; ++i)
    if (sides_[i].stepped && !analysis::stepped_one(*sides_[i].stepped, *sides_[1 - i].run))
      sides_[i].run = std::exchange(sides_[i].stepped, nullptr);
  const auto stepped = analysis::stepped_one(*sides_[0].run, *sides_[1].run);
  if (!stepped) return;
  SideModel& side = sides_[*stepped];
  side.busy = true;
  side.progress = {};
  side.progress.opening = true;
  worker_->measure_whole(*stepped, side.run);
}

}  // namespace trainscope::ui
