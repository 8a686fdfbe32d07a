// What is open, written to a file; the file's ending says as what.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/stopped.h"
#include "ui/app/window/theme.h"
#include "ui/app/workspace/workspace.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// What can be written, told by the file's ending.
struct ExportKind {
  std::string ending;        // ".handout.html"
  std::string name;          // "Handout"
  std::string help;          // one line
  bool of_a_lesson = false;  // only while one is open
};
const std::vector<ExportKind>& export_kinds();
// Null: the ending is another one.
const ExportKind* export_kind_of(const std::string& file);
// The same name with the ending of that kind.
std::string with_ending(const std::string& file, const ExportKind& kind);

// What was written, and the sentence that says so: "The report is in out.html."
struct Written {
  std::vector<std::filesystem::path> files;
  std::string sentence;
};
// Writes what was open when it was asked for, whatever has become of the window since: another
// thread may carry it out. Throws Error when the file cannot be written. Nothing is written once
// `stopped` says so.
using ExportWork = std::function<Written(const Stopped& stopped)>;

//   .html  a report          .json, .json.gz  a Chrome trace of each run
//   .csv   the metrics       .tsrun           the runs, to be opened again
//   .handout.html, .students.html: the lesson on paper, with its answers and without
// Throws InputError when there is no finished run and when the ending is another one. Pictures
// (.png) are the application's: they are of what is drawn.
ExportWork export_work(const Workspace& workspace, const std::string& file);

// Carries that out at once. Returns the sentence.
std::string write_export(const Workspace& workspace, const std::string& file);

// The timelines as they are shown, as a drawing (.svg): the part of the axis in view, the lanes
// that are not hidden, dark where the theme is. Throws InputError likewise.
std::string write_drawing(const Workspace& workspace, const TimelineInput& input, TimeRange view,
                          ThemeMode theme, const std::string& file);

}  // namespace trainscope::ui
