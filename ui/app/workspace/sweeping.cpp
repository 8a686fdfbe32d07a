#include "ui/app/workspace/sweeping.h"

#include "ui/app/workspace/workspace.h"

namespace trainscope::ui {
namespace {

// The lesson's sweep is there, of its sides as they are.
bool is_there(const SweepModel& swept, const scenario::SweepAxis& axis,
              const std::vector<scenario::LabelledConfig>& configs) {
  const auto& sweep = swept.sweep();
  return sweep && sweep->axes.size() == 1 && !swept.cancelled() &&
         sweep->axes[0].knob == axis.knob && sweep->axes[0].values == axis.values &&
         !is_stale(*sweep, swept.sides(), configs);
}

}  // namespace

bool can_sweep(const Workspace& workspace) {
  return workspace.knobs_free();
}

std::vector<scenario::LabelledConfig> labelled_configs(const Workspace& workspace) {
  std::vector<scenario::LabelledConfig> configs;
  for (const SideModel& side : workspace.sides())
    if (!is_imported(side)) configs.emplace_back(side.label, side.config);
  return configs;
}

void start_sweep(Workspace& workspace, const SweepForm& form) {
  if (!can_sweep(workspace)) return;
  workspace.sweep.start(labelled_configs(workspace), axes_of(form));
  workspace.sweep_form = form;
}

void start_lesson_sweep(Workspace& workspace) {
  const LessonModel* model = workspace.lesson();
  if (!model || !model->lesson.sweep || !workspace.revealed() || workspace.forked()) return;
  const scenario::LessonSweep& wanted = *model->lesson.sweep;
  std::vector<scenario::LabelledConfig> configs;
  for (const SideModel& side : workspace.sides()) configs.emplace_back(side.label, side.opened);
  if (!is_there(workspace.sweep, wanted.axis, configs))
    workspace.sweep.start(configs, {wanted.axis});
  workspace.sweep_form = form_of(wanted);
}

void take_sweep_point(Workspace& workspace, std::size_t side, std::size_t point) {
  const auto& sweep = workspace.sweep.sweep();
  if (!sweep || point >= sweep->points.size()) return;
  std::vector<std::pair<std::string, program::Value>> values;
  for (std::size_t i = 0; i < sweep->axes.size(); ++i)
    values.emplace_back(sweep->axes[i].knob->name, sweep->points[point].values[i]);
  workspace.set_knobs(side, values);
}

}  // namespace trainscope::ui
