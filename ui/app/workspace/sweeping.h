// Sweeps of what is on the screen: of the sides as their knobs stand, or as the lesson sets them.
#pragma once

#include <vector>

#include "scenario/sweep.h"
#include "ui/app/views/sweep_form.h"

namespace trainscope::ui {

class Workspace;

bool can_sweep(const Workspace& workspace);
// Throws InputError for what no sweep can be of.
void start_sweep(Workspace& workspace, const SweepForm& form);
// The lesson's own, of its sides as it sets them, where it is not there yet.
void start_lesson_sweep(Workspace& workspace);
// The sides by label, as their knobs stand.
std::vector<scenario::LabelledConfig> labelled_configs(const Workspace& workspace);
// The side takes the values of a point.
void take_sweep_point(Workspace& workspace, std::size_t side, std::size_t point);

}  // namespace trainscope::ui
