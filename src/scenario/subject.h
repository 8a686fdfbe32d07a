// What a lesson's runs belong to, for a file of them: its words, with their numbers filled in.
#pragma once

#include "analysis/runs/run_file.h"
#include "scenario/expression.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// Words about a metric that a run does not have, as one that ended out of memory, are left out.
analysis::Subject subject_of(const Lesson& lesson, const Sides& sides);

}  // namespace trainscope::scenario
