// What `trainscope check` demands of a lesson's sweep.
#pragma once

#include <vector>

#include "scenario/check.h"

namespace trainscope::scenario {

// Runs the sweep on the lesson's own machine: the knob's values can be run, the metric is there,
// what is expected of the curve holds, and a step after the run shows it. Nothing to find where the
// lesson has no sweep.
std::vector<Finding> check_sweep(const Lesson& lesson);

}  // namespace trainscope::scenario
