// The workspace's sweep: of the sides as they stand, or as the lesson sets them.

#include "ui/app/workspace.h"

namespace trainscope::ui {

std::vector<scenario::LabelledConfig> Workspace::labelled_configs() const {
  std::vector<scenario::LabelledConfig> configs;
  for (const SideModel& side : sides_)
    if (!is_imported(side)) configs.emplace_back(side.label, side.config);
  return configs;
}

void Workspace::start_sweep(const SweepForm& form) {
  if (!can_sweep()) return;
  sweep_.start(labelled_configs(), axes_of(form));
  sweep_form_ = form;
}

void Workspace::start_lesson_sweep() {
  if (!lesson_ || !lesson_->lesson.sweep || !revealed() || forked()) return;
  const scenario::LessonSweep& wanted = *lesson_->lesson.sweep;
  std::vector<scenario::LabelledConfig> configs;
  for (std::size_t i = 0; i < sides_.size(); ++i)
    configs.emplace_back(sides_[i].label, base_config(i));
  const bool there = sweep_.sweep() && sweep_.sweep()->axes.size() == 1 && !sweep_.cancelled() &&
                     sweep_.sweep()->axes[0].knob == wanted.axis.knob &&
                     sweep_.sweep()->axes[0].values == wanted.axis.values &&
                     !is_stale(*sweep_.sweep(), sweep_.sides(), configs);
  if (!there) sweep_.start(configs, {wanted.axis});
  sweep_form_ = form_of(wanted);
}

void Workspace::take_sweep_point(std::size_t side, std::size_t point) {
  if (!sweep_.sweep() || point >= sweep_.sweep()->points.size()) return;
  const scenario::Sweep& sweep = *sweep_.sweep();
  std::vector<std::pair<std::string, program::Value>> values;
  for (std::size_t i = 0; i < sweep.axes.size(); ++i)
    values.emplace_back(sweep.axes[i].knob->name, sweep.points[point].values[i]);
  set_knobs(side, values);
}

}  // namespace trainscope::ui
