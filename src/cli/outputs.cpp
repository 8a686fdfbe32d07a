#include "cli/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "analysis/advice/what_if.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/steps/step_facts.h"
#include "analysis/views/operations.h"
#include "base/error.h"
#include "base/files.h"
#include "base/platform.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/endings.h"
#include "cli/run_text.h"
#include "report/comparison.h"
#include "report/html.h"
#include "report/json.h"
#include "report/svg.h"
#include "report/written.h"
#include "scenario/expression.h"
#include "scenario/lesson.h"
#include "scenario/translation.h"
#ifdef TRAINSCOPE_HAS_UI
#include "cli/picture_look.h"
#include "ui/app/window/trainscope_window.h"
#endif

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;
using analysis::Run;

void wrote(const fs::path& path) {
  std::cerr << "wrote " << path.string() << "\n";
}

// ---- What is printed ---------------------------------------------------------------------------

std::vector<report::ExpectationEntry> expectation_entries(const Finished& finished) {
  std::vector<report::ExpectationEntry> entries;
  for (const scenario::Expected& one : finished.expected) {
    report::ExpectationEntry entry{one.expression, one.min, one.max, {}, {}, {}, one.untold};
    if (one.value) {
      entry.value = one.value->value;
      entry.unit = one.value->unit;
      entry.holds = !one.fails;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

void print_dropped(const Run& run) {
  const auto& dropped = run.trace->dropped();
  for (std::uint32_t i = 0; i < dropped.size(); ++i)
    std::cerr << run.label << ": " << dropped[i].count
              << " dropped: " << one_line(dropped[i].reason) << "\n";
}

// "B.time.step@1": of run B alone, and there of rank 1.
struct AskedSeries {
  std::string side;  // empty: every run
  analysis::AskedMetric asked;
};

AskedSeries asked_series(const std::string& text) {
  const bool sided = text.size() > 2 && text[1] == '.' && text[0] >= 'A' && text[0] <= 'Z';
  return {sided ? text.substr(0, 1) : "", analysis::asked_metric(sided ? text.substr(2) : text)};
}

int print_series(const Run& run, const analysis::AskedMetric& asked) {
  const auto trace = asked.rank ? analysis::trace_of_rank(run, *asked.rank) : run.trace;
  int step = 0, printed = 0;
  const auto print = [&](const analysis::Facts& facts) {
    if (const auto value = asked.metric->compute(facts)) {
      std::cout << step << " " << (std::isnan(*value) ? "nan" : fmt::format("{}", *value)) << "\n";
      ++printed;
    }
    ++step;
  };
  analysis::for_each_step_facts(*trace, run.program.get(), run.machine.get(), print);
  return printed;
}

// Only a training that computes its numbers has it.
bool is_of_numbers(std::string_view metric) {
  return metric.ends_with("to_loss") ||
         std::ranges::any_of(std::array{"loss", "accuracy", "grad.", "scaler."},
                             [&](const char* group) { return metric.starts_with(group); });
}

std::string no_series(const Run& run, const std::string& metric) {
  std::string words = "run " + run.label + " has no " + metric + " of single steps";
  if (run.ending) return words + ": " + sim::sentence(*run.ending);
  if (is_of_numbers(metric) && run.program && run.program->timing_only)
    words +=
        ": only its time is simulated; numbers are computed of data that are there, as "
        "data.name = digits";
  return words;
}

void print_series(const Finished& finished, const std::string& text) {
  const AskedSeries series = asked_series(text);
  std::vector<const Run*> asked;
  for (const auto& run : finished.runs)
    if (series.side.empty() || run->label == series.side) asked.push_back(run.get());
  if (asked.empty()) throw InputError("--series " + text + ": there is no run " + series.side);
  int printed = 0;
  for (const Run* run : asked) {
    const int lines = print_series(*run, series.asked);
    printed += lines;
    if (lines == 0) std::cerr << no_series(*run, series.asked.metric->name) << "\n";
  }
  if (asked.size() > 1)
    std::cerr << "the values of each run follow one another; --series " << asked.back()->label
              << "." << text << " prints one run's\n";
  // A run that went out of memory is a result.
  const bool ended_early = std::ranges::any_of(asked, [](const Run* run) { return !!run->ending; });
  if (printed == 0 && !ended_early)
    throw InputError("--series " + text + ": there is nothing to print");
}

// ---- What is written ---------------------------------------------------------------------------

// Of the Trainscope that carried the runs out.
std::string version_of(const Finished& finished) {
  return finished.version.empty() ? TRAINSCOPE_VERSION : finished.version;
}

analysis::SavedRuns saved_of(const Finished& finished) {
  analysis::SavedRuns saved = finished;
  saved.version = version_of(finished);
  return saved;
}

#ifdef TRAINSCOPE_HAS_UI
void dress(const Look& look, ui::PictureRequest& request) {
  const auto& panels = scenario::panel_names();
  if (!look.panel.empty() && std::find(panels.begin(), panels.end(), look.panel) == panels.end())
    throw InputError(fmt::format("there is no panel {}{}; there are {}", look.panel,
                                 did_you_mean(look.panel, panels), fmt::join(panels, ", ")));
  request.panel = look.panel;
  if (!look.action.empty()) {
    std::vector<std::string> known;
    for (const ui::ActionInfo& action : ui::actions()) known.push_back(action.id);
    if (!ui::find_action(look.action))
      throw InputError("there is no action " + look.action + did_you_mean(look.action, known) +
                       "; `trainscope actions` lists them");
    request.action = look.action;
  }
  request.present = look.present;
  const PictureLook picture = picture_look(look);
  request.width = picture.width;
  request.height = picture.height;
  request.scale = picture.scale;
  if (!look.theme.empty()) request.theme = picture.theme;
  request.playhead = playhead_of(look);
}

void check_look(const Look& look) {
  ui::PictureRequest request;
  dress(look, request);
}

void check_playhead(const Look& look, const Finished& finished) {
  Nanos end = 0;
  for (const auto& run : finished.runs) end = std::max(end, run->trace->end());
  if (playhead_of(look).value_or(0) > end)
    throw InputError(fmt::format("--at is {}, past the end of the run at {}; write a time up to it",
                                 look.at, format_nanos(static_cast<double>(end))));
}

void write_picture(const Finished& finished, const std::string& file, const Look& look) {
  ui::PictureRequest request;
  dress(look, request);
  request.lesson = finished.lesson;
  request.step = finished.step;
  request.runs = finished.runs;
  request.file = finished.trace;
  if (!request.lesson && request.runs.size() > 2)
    throw InputError("--png draws one or two runs; these are " +
                     std::to_string(request.runs.size()));
  const std::string said = ui::draw_picture(request, file);
  wrote(file);
  if (!said.empty()) std::cerr << said << "\n";
}
#else
void check_look(const Look&) {}
void check_playhead(const Look&, const Finished&) {}

void write_picture(const Finished&, const std::string&, const Look&) {
  throw MissingError(
      "--png needs the window, and this program was built without it; run ./run to build it with "
      "one");
}
#endif

// The nearest folder that exists must be one that may be written to.
void check_writable(const std::string& file) {
  if (file.empty()) return;
  const fs::path path(file);
  std::error_code error;
  if (path.filename().empty() || fs::is_directory(path, error))
    throw InputError(file + ": cannot be written: it is a folder; name a file in it");
  fs::path folder = fs::absolute(path, error).parent_path();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const bool written_over = fs::exists(path, error);
  if (!platform::may_write(written_over ? path : folder))
    throw InputError(file + ": cannot be written: " +
                     (written_over ? std::string("it is read-only")
                                   : "nothing can be written to " + folder.string()));
}

}  // namespace

void require_picture(const Look& look, const std::string& png) {
  if (!png.empty()) return;
  const char* asked = !look.panel.empty()    ? "--panel"
                      : !look.action.empty() ? "--action"
                      : !look.at.empty()     ? "--at"
                      : !look.size.empty()   ? "--size"
                      : !look.theme.empty()  ? "--theme"
                      : look.scale > 0       ? "--scale"
                      : look.present         ? "--present"
                                             : nullptr;
  if (asked)
    throw InputError(
        fmt::format("{0} is of a picture; name its file with --png, or leave {0} out", asked));
}

void check_outputs(const Outputs& outputs) {
  require_picture(outputs.look, outputs.png);
  if (!outputs.series.empty()) asked_series(outputs.series);  // there is such a metric
  if (!outputs.series.empty() && outputs.json)
    throw InputError("--series prints one value a line and --json an object; give one of them");
  for (const std::string* file :
       {&outputs.trace, &outputs.save, &outputs.html, &outputs.svg, &outputs.png})
    check_writable(*file);
  check_run_file(outputs.save);
  check_page(outputs.html);
  check_drawing(outputs.svg);
  check_picture_file(outputs.png);
  check_trace_file(outputs.trace);
  check_look(outputs.look);
}

void put_out(const Finished& finished, const Outputs& outputs) {
  std::vector<const Run*> runs;
  for (const auto& run : finished.runs) runs.push_back(run.get());
  check_playhead(outputs.look, finished);
  if (!outputs.trace.empty())
    for (const fs::path& path : report::write_traces(finished, outputs.trace)) wrote(path);
  if (!outputs.save.empty()) {
    analysis::save_runs(saved_of(finished), outputs.save);
    wrote(outputs.save);
  }
  const auto input = [&] {
    return report::report_input(saved_of(finished), scenario::speech_in(finished.subject.language));
  };
  if (!outputs.html.empty()) {
    write_file(outputs.html, report::html_report(input()));
    wrote(outputs.html);
  }
  if (!outputs.svg.empty()) {
    write_file(outputs.svg, report::timelines_svg(input()));
    wrote(outputs.svg);
  }
  if (!outputs.png.empty()) write_picture(finished, outputs.png, outputs.look);
  for (const Run* run : runs) print_dropped(*run);
  if (!outputs.series.empty()) {
    print_series(finished, outputs.series);
  } else if (outputs.json && finished.compared) {
    std::cout << report::compare_json(*runs[0], *runs[1], finished.seed, finished.executor) << "\n";
  } else if (outputs.json) {
    std::cout << report::run_json(runs, finished.seed, finished.executor, finished.subject.caveat,
                                  expectation_entries(finished))
              << "\n";
  } else {
    print_runs(finished);
  }
}

}  // namespace trainscope::cli
