// A lesson that has run, as the words of a sheet to hand out.
#pragma once

#include "analysis/views/lesson_sheet.h"
#include "scenario/expression.h"
#include "scenario/lesson.h"
#include "scenario/solution.h"

namespace trainscope::scenario {

// `sides`: the runs A and B as the lesson sets them. Numbers that a learner cannot know yet stand
// as blanks before the run. An explanation that speaks of knobs as the learner left them has only
// the sentences without numbers of that run. Throws InputError when the lesson's expressions fail.
// `solved`: of the steps that are there (solution.h) the sheet tells their knobs, what these
// change, and the explanation with the numbers of those runs.
analysis::LessonSheet sheet_of(const Lesson& lesson, const Sides& sides,
                               const SolvedSteps& solved = {});

}  // namespace trainscope::scenario
