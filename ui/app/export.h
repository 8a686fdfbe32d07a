// What is open, written to a file; the file's ending says as what.
#pragma once

#include <string>

#include "ui/app/theme.h"
#include "ui/app/workspace.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// "The report is in out.html."
//   .html  a report          .json, .json.gz  a Chrome trace of each run
//   .csv   the metrics       .tsrun           the runs, to be opened again
// Throws InputError when there is no finished run, when the ending is another one, and when the
// file cannot be written. Pictures (.png) are the application's: they are of what is drawn.
std::string write_export(const Workspace& workspace, const std::string& file);

// The timelines as they are shown, as a drawing (.svg): the part of the axis in view, the lanes
// that are not hidden, dark where the theme is. Throws InputError likewise.
std::string write_drawing(const Workspace& workspace, const TimelineInput& input, TimeRange view,
                          ThemeMode theme, const std::string& file);

}  // namespace trainscope::ui
