// The solution of a vary step as a sheet tells it.
#pragma once

#include "analysis/views/lesson_sheet.h"
#include "scenario/solution.h"

namespace trainscope::scenario {

// The knobs that are turned, and the metrics that the step's explanation and its goal name, before
// and after. `decimal` stands before tenths.
analysis::SheetSolution sheet_solution(const Step& step, const Sides& before,
                                       const SolvedRuns& solved, char decimal);

}  // namespace trainscope::scenario
