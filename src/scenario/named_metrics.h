// The metrics that a lesson is about: those that its texts, questions and conditions name.
#pragma once

#include <vector>

#include "analysis/metrics.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// In registry order.
std::vector<const analysis::Metric*> named_metrics(const Lesson& lesson);

}  // namespace trainscope::scenario
