// The solution of a lesson's task on a handout: the knobs that are turned, and what they change.
#pragma once

#include <string>

#include "analysis/views/lesson_sheet.h"
#include "base/speech.h"

namespace trainscope::report {

std::string solution_html(const analysis::SheetSolution& solution, const Speech& speech);

}  // namespace trainscope::report
