#include "ui/app/views/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/runs/level.h"
#include "base/ratio.h"
#include "base/units.h"
#include "report/beyond_steps.h"
#include "report/comparison.h"
#include "report/summing_times.h"
#include "scenario/named_metrics.h"

namespace trainscope::ui {
namespace {

using analysis::Metric;
using analysis::Run;

constexpr std::size_t kMostChanges = 4;
constexpr double kLeastChange = 0.001;  // of the longer time: thinner than a pixel

std::vector<const Metric*> named_by(const scenario::Lesson* lesson) {
  return lesson ? scenario::named_metrics(*lesson) : std::vector<const Metric*>();
}

bool is_among(const std::vector<const Metric*>& some, const Metric* metric) {
  return std::ranges::find(some, metric) != some.end();
}

// In registry order, those that matter to the lesson first.
std::vector<const Metric*> in_order_of_interest(const std::vector<const Metric*>& named) {
  std::vector<const Metric*> list = named;
  for (const Metric& metric : analysis::metrics())
    if (!is_among(named, &metric)) list.push_back(&metric);
  return list;
}

// The metric that counts a part of a step's time; none for parts that no metric counts alone.
const char* metric_of(analysis::Part part) {
  using analysis::Part;
  switch (part) {
    case Part::kCompute:
      return "gpu.busy";
    case Part::kExposedCommunication:
      return "comm.exposed";
    case Part::kExposedCopy:
      return "time.h2d";
    case Part::kIdleCopy:
      return "idle.copy";
    case Part::kIdleData:
      return "idle.data";
    case Part::kIdleStream:
      return "idle.stream";
    case Part::kIdleCollective:
      return "idle.collective";
    case Part::kIdleSync:
      return "idle.sync";
    case Part::kIdleLaunch:
      return "idle.launch";
    case Part::kIdleGap:
      return "idle.gap";
    case Part::kMemset:
    case Part::kOnCpu:
      break;
  }
  return nullptr;
}

// The time that decides, then what explains the difference, the largest part first.
std::vector<std::string> explaining_metrics(const Run& a, const Run& b) {
  std::vector<std::string> names{"time.step", "time.total"};
  for (const analysis::Change& change : analysis::compare(
           a.facts.partition, a.facts.measured.per(), b.facts.partition, b.facts.measured.per()))
    if (const char* name = metric_of(change.part)) names.emplace_back(name);
  return names;
}

bool is_alike(const CompareRow& row) {
  return std::abs(row.share_a - row.share_b) < 0.01F;
}

// What the lesson names stays in front (the first `named`). Behind it: what explains the
// difference, what differs at all, and what is alike, each in registry order.
void put_what_explains_first(std::vector<CompareRow>& rows, std::size_t named, const Run& a,
                             const Run& b) {
  const std::vector<std::string> names = explaining_metrics(a, b);
  const auto place = [&](const CompareRow& row) {
    const auto found = std::find(names.begin(), names.end(), row.metric->name);
    const auto at = static_cast<std::size_t>(found - names.begin());
    return found != names.end() && (!is_alike(row) || at < 2) ? at
           : is_alike(row)                                    ? names.size() + 1
                                                              : names.size();
  };
  std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(named), rows.end(),
                   [&](const CompareRow& x, const CompareRow& y) { return place(x) < place(y); });
}

CompareRow row_of(const Metric& metric, const Run& run_a, double a, const Run& run_b, double b) {
  CompareRow row;
  row.metric = &metric;
  row.a = report::shown(run_a, metric, a);
  row.b = report::shown(run_b, metric, b);
  if (report::has_whole_times(run_a, run_b)) row.ratio = format_ratio(b / a);
  const double most = std::max(std::abs(a), std::abs(b));
  if (most > 0) {
    row.share_a = static_cast<float>(std::abs(a) / most);
    row.share_b = static_cast<float>(std::abs(b) / most);
  }
  return row;
}

// Of a metric that one side alone has: where there is no GPU, nothing is launched.
CompareRow row_of_one(const Metric& metric, const Run& run_a, std::optional<double> a,
                      const Run& run_b, std::optional<double> b) {
  CompareRow row;
  row.metric = &metric;
  row.a = a ? report::shown(run_a, metric, *a) : "-";
  row.b = b ? report::shown(run_b, metric, *b) : "-";
  return row;
}

WaterfallBar total_bar(const char* name, double time) {
  WaterfallBar bar;
  bar.name = name;
  bar.to = time;
  return bar;
}

std::string signed_time(double nanos) {
  return (nanos < 0 ? "-" : "+") + format_nanos(std::abs(nanos));
}

void add_change(std::vector<WaterfallBar>& bars, std::string name, analysis::Part part, double from,
                double nanos) {
  WaterfallBar bar;
  bar.kind = WaterfallBar::Kind::kChange;
  bar.part = part;
  bar.name = std::move(name);
  bar.from = from;
  bar.to = from + nanos;
  bars.push_back(std::move(bar));
}

// How many changes get a bar of their own: the largest, and none that no eye could see.
std::size_t changes_shown(const std::vector<analysis::Change>& changes, double time) {
  std::size_t seen = 0;
  while (seen < changes.size() && std::abs(changes[seen].nanos) >= kLeastChange * time) ++seen;
  return seen <= kMostChanges ? seen : kMostChanges - 1;
}

report::SummingTimes printed(const report::Comparison& times) {
  const double larger = std::max(times.time_a, times.time_b);
  return {larger, kLeastChange * larger};
}

// What the note says of causes that have no bar; those of less than the bars' last digit by
// themselves. `seen`: of them, how many an eye could see, were they not to cancel out.
std::string rest_words(const report::Comparison& times, double at, double rest, std::size_t seen) {
  const std::string time = printed(times).step(at, at + rest);
  if (seen > 0)
    return fmt::format("; {} more causes cancel out{}{}", seen, time.empty() ? "" : ", but for ",
                       time);
  return ", with " + (time.empty() ? signed_time(rest) : time) + " of smaller causes";
}

// What changes A's time into B's. Small changes share one bar, or the note where even that is too
// small to see, so that the parts still sum.
void add_changes(Comparison& comparison, const report::Comparison& times) {
  const std::vector<analysis::Change>& changes = times.changes;
  auto& bars = comparison.waterfall;
  double at = times.time_a, rest = 0;
  std::size_t seen = 0;  // of those without a bar
  const double larger = std::max(times.time_a, times.time_b);
  const std::size_t shown = changes_shown(changes, larger);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i >= shown) {
      rest += changes[i].nanos;
      if (std::abs(changes[i].nanos) >= kLeastChange * larger) ++seen;
      continue;
    }
    add_change(bars, std::string(analysis::name_of(changes[i])), changes[i].part, at,
               changes[i].nanos);
    at = bars.back().to;
  }
  comparison.waterfall_note = "the parts sum to the difference";
  if (shown < changes.size() && std::abs(rest) < kLeastChange * larger)
    comparison.waterfall_note += rest_words(times, at, rest, seen);
  else if (shown < changes.size())
    add_change(bars, fmt::format("{} more causes", changes.size() - shown), changes[shown].part, at,
               rest);
}

// So that what stands below the bars sums, too.
void add_values(std::vector<WaterfallBar>& bars, const report::SummingTimes& times) {
  for (WaterfallBar& bar : bars)
    bar.value =
        bar.kind == WaterfallBar::Kind::kTotal ? times.at(bar.to) : times.step(bar.from, bar.to);
}

// A's time, what changes it, B's time.
void add_waterfall(Comparison& comparison, const Run& a, const Run& b) {
  const report::Comparison times = report::compare_times(a, b);
  if (times.steps == report::Steps::kOne) {
    comparison.waterfall_note = "Only one of the two has steps: their times are not of the same.";
    return;
  }
  comparison.waterfall.push_back(total_bar("A", times.time_a));
  if (report::is_worth_explaining(times))
    add_changes(comparison, times);
  else
    comparison.waterfall_note = report::nothing_to_explain(a, b);
  comparison.waterfall.push_back(total_bar("B", times.time_b));
  add_values(comparison.waterfall, printed(times));
  const bool a_step = times.steps == report::Steps::kBoth;
  comparison.waterfall_title =
      report::are_alike(times.time_a, times.time_b)
          ? report::alike_heading(a, b)
          : fmt::format("Where the {}{} went", format_nanos(std::abs(times.time_b - times.time_a)),
                        a_step ? " a step" : "");
}

}  // namespace

std::string brackets_words(const std::vector<const Run*>& runs) {
  std::string words;
  for (const Run* run : runs) {
    if (!run->ending) continue;
    if (words.empty()) words = report::kInBrackets;
    if (analysis::is_of_warmup(*run))
      words += fmt::format(" Of {} they are of step {}, warm-up.", run->label,
                           run->facts.measured.first_step);
  }
  return words;
}

Comparison compare_runs(const Run& a, const Run& b, const scenario::Lesson* lesson) {
  Comparison comparison;
  comparison.headline = report::headline(a, b);
  if (const std::string close = report::closeness(a, b); !close.empty())
    comparison.headline += ", " + close;
  const std::vector<const Metric*> by_lesson = named_by(lesson);
  std::size_t named = 0;
  for (const Metric* metric : in_order_of_interest(by_lesson)) {
    const auto value_a = analysis::value_of(a.metrics, metric->name);
    const auto value_b = analysis::value_of(b.metrics, metric->name);
    const bool by_name = is_among(by_lesson, metric);
    if (!value_a && !value_b) continue;
    if (value_a && value_b) {
      if (*value_a == 0 && *value_b == 0) continue;
      comparison.rows.push_back(row_of(*metric, a, *value_a, b, *value_b));
    } else if (by_name) {
      comparison.rows.push_back(row_of_one(*metric, a, value_a, b, value_b));
    }
    if (by_name) named = comparison.rows.size();
  }
  put_what_explains_first(comparison.rows, named, a, b);
  if (report::has_whole_times(a, b))
    add_waterfall(comparison, a, b);
  else
    comparison.waterfall_note =
        "A run ended before its program did: there is no whole time. " + brackets_words({&a, &b});
  return comparison;
}

Comparison unknown_comparison(const scenario::Lesson& lesson) {
  Comparison comparison;
  for (const Metric* metric : scenario::named_metrics(lesson)) {
    CompareRow row;
    row.metric = metric;
    row.a = row.b = row.ratio = "?";
    comparison.rows.push_back(row);
  }
  return comparison;
}

std::vector<SummaryRow> summarise(const Run& run) {
  std::vector<SummaryRow> rows;
  for (const analysis::MetricValue& one : run.metrics)
    rows.push_back({one.metric, report::shown(run, *one.metric, one.value)});
  return rows;
}

}  // namespace trainscope::ui
