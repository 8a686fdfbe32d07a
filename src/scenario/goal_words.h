// How far a task is: what its expression asks for, beside what the runs have of it.
#pragma once

#include <string>
#include <vector>

#include "scenario/lesson.h"

namespace trainscope::scenario {

// A line for each comparison of `wanted`, in the lesson's language and as Markdown:
//
//   GPU-Util of A: 83.6 %, asked for: at least 96 %
//   step time of A: 1.24 times that of B, asked for: at most 1.1
//
// Of those that are joined by `and`, the ones that do not hold, and those that did not when the
// task was set (`before`, the lesson's own runs; empty: unknown). Settings that are still to be
// made come alone. Nothing where one that does not hold is of a shape that cannot be told so, or
// has no value on the runs.
std::vector<std::string> goal_words(const Lesson& lesson, const Expression& wanted,
                                    const Sides& before, const Sides& now);

}  // namespace trainscope::scenario
