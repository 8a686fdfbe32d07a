#include "ui/app/files/export.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "report/handout.h"
#include "report/svg.h"
#include "report/written.h"
#include "scenario/sheet.h"
#include "scenario/subject.h"
#include "scenario/translation.h"
#include "ui/app/lesson/lesson_answers.h"
#include "ui/app/window/handover.h"

namespace trainscope::ui {
namespace {

analysis::SavedRuns saved_of(const Workspace& workspace) {
  analysis::SavedRuns saved;
  saved.version = TRAINSCOPE_VERSION;
  for (const SideModel& side : workspace.sides()) {
    if (!side.run || side.busy || !workspace.revealed())
      throw InputError("There is nothing to write yet: let the runs end first.");
    saved.runs.push_back(workspace.notebook.with_notes(side.run));
  }
  if (saved.runs.empty()) throw InputError("There is nothing to write: open a lesson or a run.");
  saved.executor = analysis::executor_of(saved.runs);
  saved.seed = saved.runs.front()->config.whole("seed");
  saved.subject.language = workspace.shelf.language();
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

// A lesson and its runs as it sets them, whatever was turned since.
struct LessonRuns {
  scenario::Lesson lesson;
  std::vector<RunPointer> runs;
};

LessonRuns lesson_runs_of(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  if (!lesson) throw InputError("A handout is of a lesson, and none is open.");
  LessonRuns of{lesson->lesson, {}};
  for (const SideModel& side : lesson->as_run)
    if (side.run) of.runs.push_back(side.run);
  if (of.runs.size() != 2)
    throw InputError("There is nothing to write yet: let the runs end first.");
  return of;
}

// With answers its tasks' solutions are carried out, which takes seconds.
std::string handout_of(const LessonRuns& of, bool answers, const Stopped& stopped) {
  report::HandoutInput input;
  for (const RunPointer& run : of.runs) input.runs.push_back(run.get());
  const scenario::SolvedSteps solved =
      answers ? scenario::solve_steps(of.lesson, input.runs, stopped) : scenario::SolvedSteps();
  input.sheet = scenario::sheet_of(of.lesson, input.runs, solved);
  input.version = TRAINSCOPE_VERSION;
  input.answers = answers;
  return report::handout_html(input);
}

std::string answers_in(const Workspace& workspace) {
  const LessonModel* lesson = workspace.lesson();
  if (!lesson) throw InputError("Answers are to a lesson, and none is open.");
  return scenario::write_answers(
      answers_of(*lesson, workspace.opened_with(), workspace.record.student()));
}

}  // namespace

const std::vector<ExportKind>& export_kinds() {
  static const std::vector<ExportKind> kinds = {
      {".html", "Report", "the timelines, the metrics and the listing, to be opened anywhere"},
      {".handout.html", "Handout", "the lesson on paper, with its answers", true},
      {".students.html", "Sheet to work on", "the lesson on paper, without a solution", true},
      {".answers.json", "Answers", "yours to this lesson, as they are handed in", true},
      {".json", "Traces", "a Chrome trace of each run; .json.gz packs it"},
      {".csv", "Metrics", "a row a metric"},
      {".tsrun", "Runs", "to be opened again without running them"},
      {".svg", "Drawing", "the timelines as they are shown, for paper and slides"},
      {".png", "Picture", "the window as it is now"},
  };
  return kinds;
}

const ExportKind* export_kind_of(const std::string& file) {
  const ExportKind* best = nullptr;
  for (const ExportKind& kind : export_kinds())
    if (file.ends_with(kind.ending) && (!best || kind.ending.size() > best->ending.size()))
      best = &kind;
  if (!best && file.ends_with(".json.gz")) return export_kind_of("a.json");
  return best;
}

std::string with_ending(const std::string& file, const ExportKind& kind) {
  const ExportKind* now = export_kind_of(file);
  if (now == &kind) return file;
  std::string_view ending = now ? std::string_view(now->ending) : "";
  if (file.ends_with(".json.gz")) ending = ".json.gz";
  return file.substr(0, file.size() - ending.size()) + kind.ending;
}

namespace {

// A file of one text, called `what` in the sentence.
ExportWork text_work(const std::string& file, const std::string& what,
                     const std::function<std::string(const Stopped&)>& text) {
  return [=](const Stopped& stopped) {
    const std::string bytes = text(stopped);
    if (stopped()) return Written{};
    write_file(file, bytes);
    return Written{{file}, fmt::format("The {} in {}.", what, file)};
  };
}

ExportWork handout_work(const Workspace& workspace, const std::string& file, bool answers) {
  return text_work(file, "handout is",
                   [of = lesson_runs_of(workspace), answers](const Stopped& stopped) {
                     return handout_of(of, answers, stopped);
                   });
}

ExportWork report_work(const analysis::SavedRuns& saved, const std::string& file) {
  return text_work(file, "report is", [saved](const Stopped&) {
    const Speech speech = scenario::speech_in(saved.subject.language);
    return report::html_report(report::report_input(saved, speech));
  });
}

ExportWork runs_work(const analysis::SavedRuns& saved, const std::string& file) {
  return [=](const Stopped& stopped) {
    if (stopped()) return Written{};
    analysis::save_runs(saved, file);
    return Written{{file},
                   "The runs are in " + file + "; `trainscope " + file + "` opens them again."};
  };
}

ExportWork traces_work(const analysis::SavedRuns& saved, const std::string& file) {
  return [=](const Stopped& stopped) {
    if (stopped()) return Written{};
    const std::vector<std::filesystem::path> traces = report::write_traces(saved, file);
    return Written{traces, "The traces are in " + names_of(traces) + "."};
  };
}

}  // namespace

ExportWork export_work(const Workspace& workspace, const std::string& file) {
  if (file.ends_with(".answers.json"))
    return text_work(file, "answers are",
                     [text = answers_in(workspace)](const Stopped&) { return text; });
  const analysis::SavedRuns saved = saved_of(workspace);
  if (file.ends_with(".handout.html")) return handout_work(workspace, file, true);
  if (file.ends_with(".students.html")) return handout_work(workspace, file, false);
  if (file.ends_with(".html")) return report_work(saved, file);
  if (file.ends_with(".csv"))
    return text_work(file, "metrics are",
                     [saved](const Stopped&) { return report::metrics_csv(saved); });
  if (file.ends_with(".tsrun")) return runs_work(saved, file);
  if (file.ends_with(".json") || file.ends_with(".json.gz")) return traces_work(saved, file);
  throw InputError(
      file + ": name a file that ends in .html, .json, .json.gz, .csv, .tsrun, .svg or .png.");
}

std::string write_export(const Workspace& workspace, const std::string& file) {
  const Written written = export_work(workspace, file)([] { return false; });
  for (const std::filesystem::path& one : written.files) hand_over(one);
  return written.sentence;
}

std::string write_drawing(const Workspace& workspace, const TimelineInput& input, TimeRange view,
                          ThemeMode theme, const std::string& file) {
  const analysis::SavedRuns saved = saved_of(workspace);
  report::PictureView picture{view.start, view.end, {}, {}};
  for (const TimelineSide& side : input.sides) {
    picture.hidden.push_back(side.hidden);
    picture.offsets.push_back(side.offset);
  }
  const Speech speech = scenario::speech_in(saved.subject.language);
  write_file(file, report::timelines_svg(report::report_input(saved, speech), picture,
                                         theme == ThemeMode::kDark ? report::SvgTheme::kDark
                                                                   : report::SvgTheme::kLight));
  hand_over(file);
  return "The timelines are in " + file + ".";
}

}  // namespace trainscope::ui
