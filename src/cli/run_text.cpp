#include "cli/run_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>

#include "analysis/advice/what_if.h"
#include "analysis/causes/critical_path.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/runs/level.h"
#include "analysis/views/operations.h"
#include "base/ratio.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/table.h"
#include "program/idle_knobs.h"
#include "program/shown_knob.h"
#include "report/beyond_steps.h"
#include "report/comparison.h"
#include "report/summing_times.h"
#include "trace/short_name.h"

namespace trainscope::cli {
namespace {

using analysis::MetricValue;
using analysis::Run;

// None of what a run did up to where it ended.
std::string ratio(const Run& a, const Run& of_b, const MetricValue& b) {
  const auto of_a = analysis::value_of(a.metrics, b.metric->name);
  if (!report::has_whole_times(a, of_b) || !of_a || *of_a == 0 || !std::isfinite(b.value / *of_a))
    return "";
  return format_ratio(b.value / *of_a);
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
      row.push_back(value ? report::shown(*run, metric, *value) : "");
      last = value ? ratio(*finished.runs.front(), *run, {&metric, *value}) : "";
    }
    if (two) row.push_back(last);
    row.push_back(metric.label);
    table.add(row);
  }
  std::cout << table.text();
  if (std::ranges::any_of(finished.runs, [](const auto& run) { return run->ending.has_value(); }))
    std::cout << "\n" << report::kInBrackets << "\n";
}

// Who waits for whom; a rank that waits for nobody is the one that the others wait for.
void print_ranks(const Run& run) {
  if (run.ranks.empty()) return;
  TextTable table({Align::kRight, Align::kRight, Align::kRight});
  table.add({"rank of " + run.label, "GPU busy", "waits for others"});
  for (const analysis::RankTimes& one : run.ranks)
    table.add({std::to_string(one.rank), format_nanos(one.busy), format_nanos(one.idle)});
  std::cout << "\n" << table.text();
}

constexpr std::size_t kMostOperations = 10;

using analysis::OperationRow;
using Where = analysis::Operation::Where;

std::vector<OperationRow> those_of(Where where, std::vector<OperationRow> rows) {
  std::erase_if(rows, [where](const OperationRow& row) { return row.where != where; });
  return rows;
}

// The names of the first rows. One of 160 letters would move the figures beside it out of a
// terminal, so its middle is left out; those that would then read alike stay whole.
std::vector<std::string> names_in_table(const std::vector<OperationRow>& rows) {
  constexpr std::size_t kStart = 44, kEnd = 19;  // layouts stand at the start, tiles at either end
  std::vector<std::string> names;
  std::map<std::string, int> alike;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostOperations); ++i) {
    names.push_back(without_middle(rows[i].shown, kStart, kEnd));
    ++alike[names.back()];
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    if (alike.at(names[i]) > 1) names[i] = rows[i].shown;
  return names;
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
  const std::vector<std::string> names = names_in_table(rows);
  for (std::size_t i = 0; i < names.size(); ++i)
    table.add({names[i], fmt::format("{:.4g}", rows[i].a.count), format_nanos(rows[i].a.total),
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
  const std::vector<std::string> names = names_in_table(rows);
  for (std::size_t i = 0; i < names.size(); ++i)
    table.add({names[i], fmt::format("{:.4g}", rows[i].a.count), format_nanos(rows[i].a.self),
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
  std::vector<OperationRow> rows =
      those_of(Where::kGpu, analysis::compare_operations(a.facts.measured, b.facts.measured));
  if (rows.empty()) return;
  const std::size_t alike = analysis::erase_alike(rows);
  if (rows.empty()) {
    std::cout << "\nall operations of the GPU take as long in both\n";
    return;
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add({"operation of the GPU", a.label, b.label, b.label + " - " + a.label});
  const std::vector<std::string> names = names_in_table(rows);
  for (std::size_t i = 0; i < names.size(); ++i)
    table.add({names[i], format_nanos(rows[i].a.total), format_nanos(rows[i].b.total),
               (rows[i].difference() > 0 ? "+" : "") + format_nanos(rows[i].difference())});
  std::cout << "\n" << table.text();
  print_number_of_more(rows.size());
  if (alike > 0)
    std::cout << counted(alike, "other") << (alike == 1 ? " takes" : " take")
              << " as long in both\n";
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

// Flags as --set and files have them.
std::string shown_knob(const Run& run, const std::string& name) {
  const program::Value& value = run.config.value(name);
  return std::holds_alternative<bool>(value) ? program::spell(value)
                                             : program::shown_knob(run.config, name);
}

void print_knobs(const Run& run) {
  for (const auto& [name, value] : run.config.values())
    if (name != "machine" && name != "seed")
      std::cout << "   " << name << " = " << one_line(shown_knob(run, name)) << "\n";
}

// Nothing where the knob changes nothing: a copy has no model.
std::string knob_beside(const Run& run, const std::string& name) {
  return program::idle_because(run.config, name).empty() ? shown_knob(run, name) : "";
}

// The knobs in which two runs differ, side by side, and then those that both set alike.
void print_knobs_beside(const Run& a, const Run& b) {
  std::vector<std::string> differing = program::differing_knobs(a.config, b.config);
  std::erase_if(differing, [&](const std::string& name) {
    return knob_beside(a, name).empty() && knob_beside(b, name).empty();
  });
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft});
  table.add({"  differ in", a.label, b.label});
  for (const std::string& name : differing)
    table.add({"   " + name, knob_beside(a, name), knob_beside(b, name)});
  if (!differing.empty()) std::cout << "\n" << table.text();
  std::string alike;
  for (const auto& [name, value] : a.config.values())
    if (b.config.value(name) == value && name != "machine" && name != "seed" &&
        !(knob_beside(a, name).empty() && knob_beside(b, name).empty()))
      add_to_list(alike, name + "=" + program::spell(value));
  if (!alike.empty()) std::cout << "  alike: " << one_line(alike) << "\n";
}

// From A's time to B's, part by part.
void print_waterfall(const Run& a, const Run& b) {
  const report::Comparison comparison = report::compare_times(a, b);
  if (!comparison.whole || comparison.steps == report::Steps::kOne) return;
  if (!report::is_worth_explaining(comparison)) {
    std::cout << "\n" << report::nothing_to_explain(a, b) << "\n";
    return;
  }
  std::cout << "\nwhere the time went, from " << a.label << " to " << b.label << ":\n";
  const report::PrintedSum sum =
      report::printed_sum(comparison.time_a, comparison.time_b, comparison.changes);
  TextTable table({Align::kLeft, Align::kRight});
  table.add({"  " + a.label, sum.from});
  for (const report::PrintedStep& step : sum.steps)
    table.add({"  " + std::string(report::name_of(step)), step.time});
  table.add({"  " + b.label, sum.to});
  std::cout << table.text();
}

// The verdict, and what the times are of.
void print_comparison(const Finished& finished) {
  const Run &a = *finished.runs[0], &b = *finished.runs[1];
  std::string words = report::headline(a, b);
  if (const std::string close = report::closeness(a, b); !close.empty())
    words += " (" + close + ")";
  std::cout << words << (words.empty() ? "Times" : "; times") << " are of "
            << analysis::what_times_are_of(a, b) << "\n\n";
}

// What takes the time, and what to try.
void print_diagnosis(const Run& run, const analysis::WhatIf* asked) {
  const std::vector<analysis::Finding> findings = analysis::diagnose(run, {}, asked);
  for (const analysis::Finding& one : findings)
    std::cout << one_line(analysis::headline(one)) << "\n   " << one_line(analysis::sentence(one))
              << "\n";
  if (!findings.empty()) std::cout << "\n";
}

// What changing one thing would bring.
void print_what_if(const std::optional<analysis::WhatIf>& found) {
  if (found && !found->refusal.empty())
    std::cout << "\nwhat if: " << one_line(found->refusal) << "\n";
  if (!found || (found->changes.empty() && analysis::words_below(*found).empty())) return;
  std::cout << "\nwhat if (" << one_line(analysis::heading(*found)) << ")\n";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  for (const analysis::Altered& one : found->changes)
    table.add({one.words, format_nanos(static_cast<double>(one.time)),
               format_nanos(static_cast<double>(one.time - found->replayed)),
               analysis::memory_words(*found, one), analysis::text_of(one)});
  std::cout << table.text();
  for (const std::string& one : analysis::words_below(*found)) std::cout << one_line(one) << "\n";
}

// "gemm 12.1 ms, cudaLaunchKernel 3.1 ms": of a step.
std::string longest_words(const analysis::CriticalPath& path, const trace::Trace& trace) {
  constexpr std::size_t kMost = 3;
  const std::vector<analysis::OnPath> longest = analysis::longest_on_path(path, trace, kMost);
  std::vector<std::string> names;
  for (const analysis::OnPath& one : longest) names.push_back(one.name);
  names = trace::distinct_names(names);
  std::string words;
  for (std::size_t i = 0; i < longest.size(); ++i)
    words += fmt::format("{}{} {}", i > 0 ? ", " : "", one_line(names[i]),
                         format_nanos(static_cast<double>(longest[i].time) / path.steps));
  return words;
}

// What the critical paths are made of, under one another.
void print_paths(const Finished& finished) {
  std::string lines;
  for (const auto& run : finished.runs) {
    const analysis::CriticalPath path = analysis::critical_path(run->facts.measured);
    const std::string words = analysis::shares_in_words(path);
    if (words.empty()) continue;
    lines += "  " + run->label + "  " + words + (path.is_inferred ? " (inferred)" : "") + "\n";
    const std::string longest = longest_words(path, *run->trace);
    if (!longest.empty()) lines += "     longest on it: " + longest + "\n";
  }
  if (!lines.empty()) std::cout << "\ncritical path:\n" << lines;
}

// What a lesson expects of a real GPU, and whether it is so.
void print_expected(const Finished& finished) {
  if (!finished.expected.empty()) std::cout << "\n";
  for (const scenario::Expected& one : finished.expected)
    std::cout << scenario::sentence(one) << "\n";
}

}  // namespace

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
  std::optional<analysis::WhatIf> asked;
  if (finished.runs.size() == 1) {
    asked = analysis::what_if(*finished.runs[0]);
    print_diagnosis(*finished.runs[0], asked ? &*asked : nullptr);
  }
  print_table(finished);
  for (const auto& run : finished.runs) print_ranks(*run);
  print_what_if(asked);
  if (finished.runs.size() == 1) print_operations(*finished.runs[0]);
  if (beside) print_waterfall(*finished.runs[0], *finished.runs[1]);
  if (finished.compared) print_operations_beside(*finished.runs[0], *finished.runs[1]);
  print_paths(finished);
  print_expected(finished);
}

}  // namespace trainscope::cli
