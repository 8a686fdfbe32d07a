#include "ui/app/export.h"

#include "base/error.h"
#include "base/files.h"
#include "report/svg.h"
#include "report/written.h"
#include "scenario/subject.h"

namespace trainscope::ui {
namespace {

analysis::SavedRuns saved_of(const Workspace& workspace) {
  analysis::SavedRuns saved;
  saved.version = TRAINSCOPE_VERSION;
  saved.executor = "sim";
  for (const SideModel& side : workspace.sides()) {
    if (!side.run || side.busy || !workspace.revealed())
      throw InputError("There is nothing to write yet: let the runs end first.");
    if (!side.run->program) saved.executor = "imported";
    if (side.run->trace->origin().kind == trace::OriginKind::kMeasured) saved.executor = "cuda";
    saved.runs.push_back(workspace.notebook.with_notes(side.run));
  }
  if (saved.runs.empty()) throw InputError("There is nothing to write: open a lesson or a run.");
  saved.seed = saved.runs.front()->config.whole("seed");
  const scenario::Sides sides = workspace.current_sides();
  if (const LessonModel* lesson = workspace.lesson(); lesson && !workspace.forked())
    saved.subject = scenario::subject_of(lesson->lesson, sides);
  return saved;
}

std::string names_of(const std::vector<std::filesystem::path>& files) {
  std::string names;
  for (const auto& file : files) names += (names.empty() ? "" : " and ") + file.string();
  return names;
}

}  // namespace

std::string write_export(const Workspace& workspace, const std::string& file) {
  const analysis::SavedRuns saved = saved_of(workspace);
  if (file.ends_with(".html")) {
    write_file(file, report::html_report(report::report_input(saved)));
    return "The report is in " + file + ".";
  }
  if (file.ends_with(".csv")) {
    write_file(file, report::metrics_csv(saved));
    return "The metrics are in " + file + ".";
  }
  if (file.ends_with(".tsrun")) {
    analysis::save_runs(saved, file);
    return "The runs are in " + file + "; `trainscope " + file + "` opens them again.";
  }
  if (file.ends_with(".json") || file.ends_with(".json.gz"))
    return "The traces are in " + names_of(report::write_traces(saved, file)) + ".";
  throw InputError(
      file + ": name a file that ends in .html, .json, .json.gz, .csv, .tsrun, .svg or .png.");
}

std::string write_drawing(const Workspace& workspace, const TimelineInput& input, TimeRange view,
                          ThemeMode theme, const std::string& file) {
  const analysis::SavedRuns saved = saved_of(workspace);
  report::PictureView picture{view.start, view.end, {}, {}};
  for (const TimelineSide& side : input.sides) {
    picture.hidden.push_back(side.hidden);
    picture.offsets.push_back(side.offset);
  }
  write_file(file, report::timelines_svg(report::report_input(saved), picture,
                                         theme == ThemeMode::kDark ? report::SvgTheme::kDark
                                                                   : report::SvgTheme::kLight));
  return "The timelines are in " + file + ".";
}

}  // namespace trainscope::ui
