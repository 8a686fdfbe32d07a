// One side of what is on the screen: its config, its run, and what is known while there is none.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/runs/run.h"
#include "ui/app/workspace/worker.h"

namespace trainscope::ui {

using analysis::RunPointer;

// A or B.
struct SideModel {
  std::string label;
  program::Config config;  // as the knobs stand
  program::Config opened;  // as whoever opened it, or the lesson, has set them
  OutlinePointer outline;  // listing and lanes, known before the run
  RunPointer run;          // the last finished one
  RunPointer stepped;      // the same by its steps, where `run` is of all of it, as the other side
  TraceView view;          // what is drawn: of that run, or of one under way
  bool busy = false;
  Progress progress;           // while it is busy
  std::string error;           // why there is no run, as a sentence
  std::filesystem::path file;  // of an imported trace

  // "A", "B".
  static std::string label_of(std::size_t number) { return number == 0 ? "A" : "B"; }
};

// Its timeline is complete, and the numbers that the run trains are still coming.
inline bool is_training(const SideModel& side) {
  return side.busy && side.progress.training;
}

// It was read from a trace: it has no knobs, no listing, and no machine of ours.
bool is_imported(const SideModel& side);

// It carries a trace out once more: it has knobs, and no machine of ours.
bool is_replay(const SideModel& side);

// Its run was carried out on a GPU.
bool is_measured(const SideModel& side);

// Side 0 (A) or 1 (B), without a run.
SideModel side_of(std::size_t number, program::Config config);

// A finished run becomes what the side shows, under the side's label.
void show_run(SideModel& side, const RunPointer& run);

}  // namespace trainscope::ui
