// The workspace's sides outside lessons: what is opened, alone or beside another.

#include <algorithm>
#include <utility>

#include "analysis/advice/what_if.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

void Workspace::open_runs(const std::vector<RunPointer>& runs, const std::filesystem::path& file) {
  close();
  screen_ = Screen::kRuns;
  Nanos end = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 2); ++i) {
    notebook.take_over(*runs[i]);
    desk_.read_run(i, runs[i], file);
    end = std::max(end, runs[i]->trace->end());
  }
  playhead.time = end / 2;
  // A recording may begin long after its clock's zero.
  if (runs.size() == 1 && is_imported(sides()[0])) {
    const analysis::Interval& whole = runs.front()->facts.measured.whole;
    playhead.time = whole.start + (whole.end - whole.start) / 2;
  }
}

void Workspace::open_trace(const std::filesystem::path& file) {
  close();
  screen_ = Screen::kRuns;
  desk_.read_trace(0, file);
}

void Workspace::forget_pair() {
  history_.clear();
  sweep.clear();
  sweep_form.reset();
  playhead.offset = 0;
  playhead.by_step = playhead.playing = false;
  desk_.unlevel();
}

void Workspace::open_run_beside(const RunPointer& run, const std::filesystem::path& file) {
  if (!can_open_beside()) return;
  forget_pair();
  notebook.take_over(*run);
  desk_.read_run(1, run, file);
}

void Workspace::open_trace_beside(const std::filesystem::path& file) {
  if (!can_open_beside()) return;
  forget_pair();
  desk_.read_trace(1, file);
}

void Workspace::open_config_beside(program::Config config) {
  if (!can_open_beside()) return;
  forget_pair();
  desk_.outline(1, std::move(config));
  desk_.start(1);
}

void Workspace::copy_beside() {
  if (can_copy_beside()) open_config_beside(sides().front().config);
}

bool Workspace::can_replay_beside() const {
  if (!can_open_beside() || sides().size() != 1) return false;
  const SideModel& a = sides().front();
  return !a.file.empty() && a.run && analysis::can_replay(*a.run);
}

void Workspace::replay_beside(const std::string& settings) {
  if (sides().empty()) return;
  const SideModel& a = sides().front();
  const bool turns_knobs = a.run && a.run->program && can_copy_beside();
  if (turns_knobs || can_replay_beside())
    open_config_beside(analysis::config_with(*a.run, a.file.string(), settings));
}

void Workspace::close_beside() {
  if (!can_close_beside()) return;
  forget_pair();
  desk_.drop_last();
}

}  // namespace trainscope::ui
