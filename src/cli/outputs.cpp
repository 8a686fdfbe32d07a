#include "cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "analysis/diagnosis.h"
#include "analysis/level.h"
#include "analysis/operations.h"
#include "analysis/what_if.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "base/units.h"
#include "cli/endings.h"
#include "cli/table.h"
#include "report/comparison.h"
#include "report/html.h"
#include "report/json.h"
#include "report/svg.h"
#include "report/written.h"
#include "scenario/expression.h"
#include "scenario/lesson.h"
#ifdef TRAINSCOPE_HAS_UI
#include "cli/picture_look.h"
#include "ui/app/trainscope_window.h"
#endif

namespace trainscope::cli {
namespace {

namespace fs = std::filesystem;
using analysis::MetricValue;
using analysis::Run;

void wrote(const fs::path& path) {
  std::cerr << "wrote " << path.string() << "\n";
}

// ---- What is printed ---------------------------------------------------------------------------

std::string ratio(const std::vector<MetricValue>& a, const MetricValue& b) {
  const auto of_a = analysis::value_of(a, b.metric->name);
  if (!of_a || *of_a == 0 || !std::isfinite(b.value / *of_a)) return "";
  return format_count(b.value / *of_a);
}

// Metrics that are 0 everywhere (causes that did not occur) would only fill the table.
bool worth_a_row(const analysis::Metric& metric, const Finished& finished) {
  for (const auto& run : finished.runs)
    if (const auto value = analysis::value_of(run->metrics, metric.name); value && *value != 0)
      return true;
  return false;
}

void print_table(const Finished& finished) {
  const bool two = finished.runs.size() == 2;
  std::vector<Align> columns{Align::kLeft};
  std::vector<std::string> head{"metric"};
  for (const auto& run : finished.runs) {
    columns.push_back(Align::kRight);
    head.push_back(run->label);
  }
  if (two) {
    columns.push_back(Align::kRight);
    head.push_back("B/A");
  }
  columns.push_back(Align::kLeft);
  head.push_back("");
  TextTable table(columns);
  table.add(head);
  for (const analysis::Metric& metric : analysis::metrics()) {
    if (!worth_a_row(metric, finished)) continue;
    std::vector<std::string> row{metric.name};
    std::string last;
    for (const auto& run : finished.runs) {
      const auto value = analysis::value_of(run->metrics, metric.name);
      row.push_back(value ? analysis::show(metric, *value) : "");
      last = value ? ratio(finished.runs.front()->metrics, {&metric, *value}) : "";
    }
    if (two) row.push_back(last);
    row.push_back(metric.label);
    table.add(row);
  }
  std::cout << table.text();
}

// Who waits for whom; a rank that waits for nobody is the one that the others wait for.
void print_ranks(const Run& run) {
  if (run.ranks.empty()) return;
  TextTable table({Align::kRight, Align::kRight, Align::kRight});
  table.add({"rank of " + run.label, "GPU busy", "waits for others"});
  for (const analysis::RankTimes& one : run.ranks)
    table.add({std::to_string(one.rank), format_nanos(one.busy), format_nanos(one.wait)});
  std::cout << "\n" << table.text();
}

constexpr std::size_t kMostOperations = 10;

using analysis::OperationRow;
using Where = analysis::Operation::Where;

std::vector<OperationRow> those_of(Where where, std::vector<OperationRow> rows) {
  std::erase_if(rows, [where](const OperationRow& row) { return row.where != where; });
  return rows;
}

void print_number_of_more(std::size_t rows) {
  if (rows > kMostOperations)
    std::cout << "and " << rows - kMostOperations << " more, in the window\n";
}

// What its GPU does longest.
void print_gpu_operations(const analysis::Measured& measured,
                          const std::vector<OperationRow>& rows) {
  if (rows.empty()) return;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add({"operation of the GPU", "count", "total", analysis::share_of_what(measured)});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostOperations); ++i)
    table.add({rows[i].shown, fmt::format("{:.4g}", rows[i].a.count), format_nanos(rows[i].a.total),
               fmt::format("{:.1f} %", 100 * analysis::share_of(rows[i].a, measured))});
  std::cout << "\n" << table.text();
  print_number_of_more(rows.size());
}

// What its host does longest, without the calls that it makes, and for how much work of the GPU.
void print_host_operations(std::vector<OperationRow> rows) {
  if (rows.empty()) return;
  analysis::sort_operations(rows, analysis::OperationOrder::kSelf, false);
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add({"operation of the host", "count", "self", "total", "on GPU"});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostOperations); ++i)
    table.add({rows[i].shown, fmt::format("{:.4g}", rows[i].a.count), format_nanos(rows[i].a.self),
               format_nanos(rows[i].a.total), format_nanos(rows[i].a.gpu)});
  std::cout << "\n" << table.text();
  print_number_of_more(rows.size());
}

void print_operations(const Run& run) {
  const analysis::Measured& measured = run.facts.measured;
  const std::vector<OperationRow> rows = analysis::operation_rows(measured);
  print_gpu_operations(measured, those_of(Where::kGpu, rows));
  print_host_operations(those_of(Where::kHost, rows));
}

// What the two GPUs do for different times.
void print_operations_beside(const Run& a, const Run& b) {
  const std::vector<OperationRow> rows =
      those_of(Where::kGpu, analysis::compare_operations(a.facts.measured, b.facts.measured));
  if (rows.empty()) return;
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add({"operation of the GPU", a.label, b.label, b.label + " - " + a.label});
  for (std::size_t i = 0; i < std::min(rows.size(), kMostOperations); ++i)
    table.add({rows[i].shown, format_nanos(rows[i].a.total), format_nanos(rows[i].b.total),
               (rows[i].difference() > 0 ? "+" : "") + format_nanos(rows[i].difference())});
  std::cout << "\n" << table.text();
  print_number_of_more(rows.size());
}

void print_origin(const Run& run) {
  const trace::Origin& origin = run.trace->origin();
  std::cout << run.label << "  " << trace::badge(origin.kind) << "  " << one_line(origin.subject);
  if (!origin.detail.empty()) std::cout << ", " << one_line(origin.detail);
  std::cout << "  (" << counted(run.trace->spans().size(), "span");
  if (run.trace->dropped_events() > 0)
    std::cout << ", " << run.trace->dropped_events() << " events dropped";
  std::cout << ")\n";
}

std::string shown_knob(const Run& run, const std::string& name) {
  return program::show(program::find_knob(name), run.config.value(name));
}

void print_knobs(const Run& run) {
  for (const auto& [name, value] : run.config.values())
    if (name != "machine" && name != "seed")
      std::cout << "   " << name << " = " << one_line(shown_knob(run, name)) << "\n";
}

// The knobs in which two runs differ, side by side, and then those that both set alike.
void print_knobs_beside(const Run& a, const Run& b) {
  const std::vector<std::string> differing = program::differing_knobs(a.config, b.config);
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft});
  table.add({"  differ in", a.label, b.label});
  for (const std::string& name : differing)
    table.add({"   " + name, shown_knob(a, name), shown_knob(b, name)});
  if (!differing.empty()) std::cout << "\n" << table.text();
  std::string alike;
  for (const auto& [name, value] : a.config.values())
    if (b.config.value(name) == value && name != "machine" && name != "seed")
      alike += (alike.empty() ? "" : ", ") + name + "=" + program::spell(value);
  if (!alike.empty()) std::cout << "  alike: " << one_line(alike) << "\n";
}

void print_dropped(const Run& run) {
  const auto& dropped = run.trace->dropped();
  for (std::uint32_t i = 0; i < dropped.size(); ++i)
    std::cerr << run.label << ": " << dropped[i].count
              << " dropped: " << one_line(dropped[i].reason) << "\n";
}

// From A's time to B's, part by part.
void print_waterfall(const Run& a, const Run& b) {
  const report::Comparison comparison = report::compare_times(a, b);
  if (!comparison.whole) return;
  if (comparison.changes.empty()) {
    std::cout << "\n" << a.label << " and " << b.label << " spend their time in the same way\n";
    return;
  }
  std::cout << "\nwhere the time went, from " << a.label << " to " << b.label << ":\n";
  TextTable table({Align::kLeft, Align::kRight});
  table.add({"  " + a.label, format_nanos(comparison.time_a)});
  for (const analysis::Change& change : comparison.changes)
    table.add({"  " + std::string(analysis::name_of(change.part)),
               (change.nanos > 0 ? "+" : "") + format_nanos(change.nanos)});
  table.add({"  " + b.label, format_nanos(comparison.time_b)});
  std::cout << table.text();
}

// The verdict, and what the times are of.
void print_comparison(const Finished& finished) {
  const Run &a = *finished.runs[0], &b = *finished.runs[1];
  const std::string words = report::headline(a, b);
  std::cout << words << (words.empty() ? "Times" : "; times") << " are of "
            << analysis::what_times_are_of(a, b) << "\n\n";
}

// What takes the time, and what to try.
void print_diagnosis(const Run& run) {
  const std::vector<analysis::Finding> findings = analysis::diagnose(run);
  for (const analysis::Finding& one : findings)
    std::cout << one_line(analysis::headline(one)) << "\n   " << one_line(analysis::sentence(one))
              << "\n";
  if (!findings.empty()) std::cout << "\n";
}

// What changing one thing would bring.
void print_what_if(const Run& run) {
  const std::optional<analysis::WhatIf> found = analysis::what_if(run);
  if (found && !found->refusal.empty())
    std::cout << "\nwhat if: " << one_line(found->refusal) << "\n";
  if (!found || found->changes.empty()) return;
  std::cout << "\nwhat if (" << one_line(analysis::heading(*found)) << ")\n";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft});
  for (const analysis::Altered& one : found->changes)
    table.add({one.words, format_nanos(static_cast<double>(one.time)),
               format_nanos(static_cast<double>(one.time - found->replayed)),
               analysis::text_of(one)});
  std::cout << table.text();
}

// What a lesson expects of a real GPU, and whether it is so.
void print_expected(const Finished& finished) {
  if (!finished.expected.empty()) std::cout << "\n";
  for (const scenario::Expected& one : finished.expected)
    std::cout << scenario::sentence(one) << "\n";
}

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

void print_runs(const Finished& finished) {
  if (!finished.subject.lesson.empty()) std::cout << one_line(finished.subject.title) << "\n\n";
  if (!finished.subject.caveat.empty()) std::cout << one_line(finished.subject.caveat) << "\n\n";
  const bool configured =
      std::all_of(finished.runs.begin(), finished.runs.end(),
                  [](const analysis::RunPointer& run) { return run->program != nullptr; });
  for (const auto& run : finished.runs) {
    print_origin(*run);
    if (run->ending) std::cout << "   " << one_line(sim::sentence(*run->ending)) << "\n";
    if (!run->caveat.empty()) std::cout << "   " << one_line(run->caveat) << "\n";
    if (!finished.compared || !configured) print_knobs(*run);
  }
  if (finished.compared && configured) print_knobs_beside(*finished.runs[0], *finished.runs[1]);
  std::cout << "\n";
  const bool beside =
      finished.runs.size() == 2 && (!finished.subject.lesson.empty() || finished.compared);
  if (beside)
    print_comparison(finished);
  else if (finished.runs.size() == 1)
    std::cout << "Times are of " << analysis::what_times_are_of(*finished.runs[0]) << "\n\n";
  else if (finished.runs.size() == 2)
    std::cout << "Times are of "
              << analysis::what_times_are_of(*finished.runs[0], *finished.runs[1]) << "\n\n";
  if (finished.runs.size() == 1) print_diagnosis(*finished.runs[0]);
  print_table(finished);
  for (const auto& run : finished.runs) print_ranks(*run);
  if (finished.runs.size() == 1) print_what_if(*finished.runs[0]);
  if (finished.runs.size() == 1) print_operations(*finished.runs[0]);
  if (beside) print_waterfall(*finished.runs[0], *finished.runs[1]);
  if (finished.compared) print_operations_beside(*finished.runs[0], *finished.runs[1]);
  print_expected(finished);
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
  const auto steps = analysis::gather_step_facts(*trace, run.program.get(), run.machine.get());
  int printed = 0;
  for (std::size_t step = 0; step < steps.size(); ++step)
    if (const auto value = asked.metric->compute(steps[step])) {
      std::cout << step << " " << (std::isnan(*value) ? "nan" : fmt::format("{}", *value)) << "\n";
      ++printed;
    }
  return printed;
}

std::string no_series(const Run& run, const std::string& metric) {
  std::string words = "run " + run.label + " has no " + metric + " of single steps";
  if (run.program && run.program->timing_only)
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
  if (printed == 0) throw InputError("--series " + text + ": there is nothing to print");
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
// "61.4ms"; a number alone is milliseconds.
void read_playhead(const std::string& words, ui::PictureRequest& request) {
  if (words.empty()) return;
  double value = 0;
  char unit[4] = "ms";
  int used = 0;
  const bool named = std::sscanf(words.c_str(), "%lf %3[a-z]%n", &value, unit, &used) == 2 &&
                     static_cast<std::size_t>(used) == words.size();
  const bool bare = !named && std::sscanf(words.c_str(), "%lf%n", &value, &used) == 1 &&
                    static_cast<std::size_t>(used) == words.size();
  const std::string name = named ? unit : "ms";
  const bool known = name == "s" || name == "ms" || name == "us" || name == "ns";
  const double nanos = known ? value * *unit_factor(name) : -1;
  constexpr double kMost = 1e18;  // a run of thirty years
  if ((!named && !bare) || !(nanos >= 0) || nanos > kMost)
    throw InputError("--at is a time of the run, as 61.4ms or 3s, not " + words);
  request.playhead = static_cast<Nanos>(nanos);
}

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
      throw InputError("there is no action " + look.action + did_you_mean(look.action, known));
    request.action = look.action;
  }
  request.present = look.present;
  const PictureLook picture = picture_look(look);
  request.width = picture.width;
  request.height = picture.height;
  request.scale = picture.scale;
  if (!look.theme.empty()) request.theme = picture.theme;
  read_playhead(look.at, request);
}

void check_look(const Look& look) {
  ui::PictureRequest request;
  dress(look, request);
}

void write_picture(const Finished& finished, const std::string& file, const Look& look) {
  ui::PictureRequest request;
  dress(look, request);
  request.lesson = finished.lesson;
  request.step = finished.step;
  request.runs = finished.runs;
  if (!request.lesson && request.runs.size() > 2)
    throw InputError("--png draws one or two runs; these are " +
                     std::to_string(request.runs.size()));
  const std::string said = ui::draw_picture(request, file);
  wrote(file);
  if (!said.empty()) std::cerr << said << "\n";
}
#else
void check_look(const Look&) {}

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
  if (::access((written_over ? path : folder).c_str(), W_OK) != 0)
    throw InputError(file + ": cannot be written: " +
                     (written_over ? std::string("it is read-only")
                                   : "nothing can be written to " + folder.string()));
}

}  // namespace

void check_outputs(const Outputs& outputs) {
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
  if (!outputs.trace.empty())
    for (const fs::path& path : report::write_traces(finished, outputs.trace)) wrote(path);
  if (!outputs.save.empty()) {
    analysis::save_runs(saved_of(finished), outputs.save);
    wrote(outputs.save);
  }
  if (!outputs.html.empty()) {
    write_file(outputs.html, report::html_report(report::report_input(saved_of(finished))));
    wrote(outputs.html);
  }
  if (!outputs.svg.empty()) {
    write_file(outputs.svg, report::timelines_svg(report::report_input(saved_of(finished))));
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
