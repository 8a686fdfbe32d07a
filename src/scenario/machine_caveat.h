// What to say where a lesson runs on a machine that its text is not written for.
#pragma once

#include <string>

#include "scenario/expression.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

// One sentence in the lesson's language that names both; empty: the text holds for the machines of
// these runs, of which only the configs are asked.
std::string machine_caveat(const Lesson& lesson, const Sides& sides);

}  // namespace trainscope::scenario
