#include "ui/app/workspace/kept_runs.h"

#include <algorithm>

#include "program/config_difference.h"
#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {

bool KeptRuns::can_take(const RunPointer& run) const {
  return runs_.size() < kMost &&
         std::ranges::none_of(runs_, [&](const KeptRun& kept) { return kept.run == run; });
}

void KeptRuns::add(const RunPointer& run, const TraceView& view) {
  runs_.push_back({std::to_string(++named_), run, view});
}

void KeptRuns::drop(std::size_t number) {
  if (number < runs_.size()) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(number));
}

void KeptRuns::clear() {
  runs_.clear();
  named_ = 0;
}

bool can_keep(const Workspace& workspace, std::size_t side) {
  if (side >= workspace.sides().size() || !workspace.revealed()) return false;
  const SideModel& model = workspace.sides()[side];
  return model.run && model.view && !model.busy && workspace.kept.can_take(model.run);
}

void keep(Workspace& workspace, std::size_t side) {
  if (!can_keep(workspace, side)) return;
  const SideModel& model = workspace.sides()[side];
  workspace.kept.add(model.run, model.view);
}

void take_kept(Workspace& workspace, std::size_t side, std::size_t number) {
  const std::vector<KeptRun>& kept = workspace.kept.all();
  if (number >= kept.size() || side >= workspace.sides().size()) return;
  const program::Config& from = kept[number].run->config;
  std::vector<std::pair<std::string, program::Value>> values;
  const program::Config taken = program::difference(workspace.sides()[side].config, from);
  for (const auto& [knob, value] : taken.values()) values.emplace_back(knob, value);
  workspace.set_knobs(side, values);
}

}  // namespace trainscope::ui
