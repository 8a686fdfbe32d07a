// What of a lesson's runs its sheet of paper draws: nobody zooms there.
#pragma once

#include <string>
#include <vector>

#include "analysis/views/lesson_sheet.h"
#include "report/picture.h"

namespace trainscope::report {

struct PaperView {
  PictureView picture;
  int steps = 0;             // measured ones that are drawn alone, with what comes just before
                             // them; 0: the whole runs are
  std::size_t lanes = 0;     // of all runs, that have something to draw
  std::size_t left_out = 0;  // of these
};

// Where most of a run comes before its measured steps, as where workers start, the drawing begins
// just before these. Of many lanes those are drawn that the sheet names, and of the others the
// first of each kind.
PaperView paper_view(const std::vector<RunView>& views, const analysis::LessonSheet& sheet,
                     const Speech& speech);

}  // namespace trainscope::report
