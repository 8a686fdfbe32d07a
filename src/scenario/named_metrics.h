// The metrics that a lesson is about: those that its texts, questions and conditions name.
#pragma once

#include <vector>

#include "analysis/metrics/metrics.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// In registry order.
std::vector<const analysis::Metric*> named_metrics(const Lesson& lesson);
// The same of what a step's explanation and its goal name.
std::vector<const analysis::Metric*> metrics_of_goal(const Step& step);

}  // namespace trainscope::scenario
