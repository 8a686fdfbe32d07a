// Runs put aside, to be looked at beside A and B until something else is opened.
#pragma once

#include <string>
#include <vector>

#include "ui/app/workspace/side_model.h"

namespace trainscope::ui {

class Workspace;

// A run put aside as it was.
struct KeptRun {
  std::string name;  // "1"
  RunPointer run;
  TraceView view;
};

class KeptRuns {
 public:
  static constexpr std::size_t kMost = 4;

  const std::vector<KeptRun>& all() const { return runs_; }
  // There is room, and it is none of them yet.
  bool can_take(const RunPointer& run) const;
  void add(const RunPointer& run, const TraceView& view);
  void drop(std::size_t number);
  void clear();

 private:
  std::vector<KeptRun> runs_;
  int named_ = 0;
};

// The side has a finished run that is not kept yet, and there is room.
bool can_keep(const Workspace& workspace, std::size_t side);
void keep(Workspace& workspace, std::size_t side);
// A side takes a kept run's knobs.
void take_kept(Workspace& workspace, std::size_t side, std::size_t number);

}  // namespace trainscope::ui
