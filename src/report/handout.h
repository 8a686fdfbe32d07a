// A lesson on paper: one HTML file to print or to read on a screen, without a script and without a
// network. What is asked stands before what happened, with room to write a prediction down; what
// happened begins a page of its own.
//
// Equal input gives equal bytes; there is no date in it.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "analysis/views/lesson_sheet.h"

namespace trainscope::report {

struct HandoutInput {
  analysis::LessonSheet sheet;
  std::vector<const analysis::Run*> runs;  // A and B, as the lesson sets them
  std::string student;                     // whose sheet it is; empty: a line for the name
  std::string version;                     // of Trainscope; empty: not shown
  // The right answers, their reasons, the knobs that do a task, the explanations, the hints, the
  // lecturer's notes, and what the runs come to; without them it is a sheet to work on: the
  // timelines without a total, and blanks for what is read of them.
  bool answers = true;
};

std::string handout_html(const HandoutInput& input);

}  // namespace trainscope::report
