#include "ui/app/workspace/side_model.h"

#include <utility>

namespace trainscope::ui {
namespace {

// A run under this label; the same one where it has it already.
RunPointer labelled(const RunPointer& run, const std::string& label) {
  if (run->label == label) return run;
  auto copy = std::make_shared<analysis::Run>(*run);
  copy->label = label;
  return copy;
}

}  // namespace

SideModel side_of(std::size_t number, program::Config config) {
  SideModel side;
  side.label = SideModel::label_of(number);
  side.config = config;
  side.opened = std::move(config);
  return side;
}

bool is_replay(const SideModel& side) {
  return !is_imported(side) && side.config.word("workload") == "replay";
}

bool is_imported(const SideModel& side) {
  if (!side.file.empty()) return true;
  if (side.run) return !side.run->program;
  return side.view && !side.outline;
}

bool is_measured(const SideModel& side) {
  return side.run && trace::is_measured(*side.run->trace);
}

void show_run(SideModel& side, const RunPointer& run) {
  side.run = labelled(run, side.label);
  side.view = index_trace(run->trace);
  if (run->program)
    side.outline = std::make_shared<Outline>(outline_of(*run->program, *run->trace));
  side.busy = false;
}

}  // namespace trainscope::ui
