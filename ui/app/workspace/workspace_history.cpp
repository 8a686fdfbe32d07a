// Knobs that were turned, taken back and turned again.

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {
namespace {

ConfigHistory::State configs_of(const std::vector<SideModel>& sides) {
  ConfigHistory::State configs;
  for (const SideModel& side : sides) configs.push_back(side.config);
  return configs;
}

}  // namespace

// What *Show me* still looks for is of the knobs as they were.
void Workspace::remember(const std::string& what) {
  solving_.drop();
  history_.remember(configs_of(sides()), what);
}

bool Workspace::can_undo() const {
  return knobs_free() && history_.can_undo();
}

bool Workspace::can_redo() const {
  return knobs_free() && history_.can_redo();
}

void Workspace::undo() {
  if (can_undo()) restore(*history_.undo(configs_of(sides())));
}

void Workspace::redo() {
  if (can_redo()) restore(*history_.redo(configs_of(sides())));
}

// The lesson's own runs are there already; what differs from them is run again.
void Workspace::restore(const ConfigHistory::State& configs) {
  solving_.drop();
  for (std::size_t i = 0; i < sides().size(); ++i) {
    if (configs[i] == sides()[i].config) continue;
    if (lesson_ && !lesson_->as_run.empty() && configs[i] == lesson_->as_run[i].config)
      desk_.put_back(i, lesson_->as_run[i]);
    else
      desk_.carry_out(i, configs[i]);
  }
}

}  // namespace trainscope::ui
