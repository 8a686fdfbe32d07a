// What is open, written to a file; the file's ending says as what.
#pragma once

#include <string>

#include "ui/app/workspace.h"

namespace trainscope::ui {

// "The report is in out.html."
//   .html  a report          .json, .json.gz  a Chrome trace of each run
//   .csv   the metrics       .tsrun           the runs, to be opened again
// Throws InputError when there is no finished run, when the ending is another one, and when the
// file cannot be written. Pictures (.png) are the application's: they are of what is drawn.
std::string write_export(const Workspace& workspace, const std::string& file);

}  // namespace trainscope::ui
