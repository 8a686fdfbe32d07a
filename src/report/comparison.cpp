#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>

namespace trainscope::report {
namespace {

const analysis::MetricValue* find(const analysis::Run& run, std::string_view name) {
  for (const analysis::MetricValue& one : run.metrics)
    if (one.metric->name == name) return &one;
  return nullptr;
}

Steps steps_of(const analysis::Run& a, const analysis::Run& b) {
  const bool in_a = a.facts.measured.steps > 0, in_b = b.facts.measured.steps > 0;
  if (in_a != in_b) return Steps::kOne;
  return in_a ? Steps::kBoth : Steps::kNone;
}

}  // namespace

double window_time(const analysis::Run& run) {
  Nanos total = 0;
  for (const Nanos time : run.facts.partition.time) total += time;
  return static_cast<double>(total) / run.facts.measured.per();
}

Comparison compare_times(const analysis::Run& a, const analysis::Run& b) {
  Comparison comparison;
  comparison.steps = steps_of(a, b);
  comparison.time_a = window_time(a);
  comparison.time_b = window_time(b);
  if (comparison.steps != Steps::kOne)
    comparison.changes = analysis::compare(a.facts.partition, a.facts.measured.per(),
                                           b.facts.partition, b.facts.measured.per());
  return comparison;
}

const analysis::MetricValue* main_time(const analysis::Run& run) {
  const analysis::MetricValue* step = find(run, "time.step");
  return step ? step : find(run, "time.total");
}

bool same_work(const analysis::Run& a, const analysis::Run& b) {
  if (!a.program || !b.program) return true;
  return a.config.word("workload") == b.config.word("workload");
}

std::string headline(const analysis::Run& a, const analysis::Run& b) {
  if (!same_work(a, b)) return a.label + " and " + b.label + " do different work";
  const char* name = steps_of(a, b) == Steps::kBoth ? "time.step" : "time.total";
  const analysis::MetricValue *of_a = find(a, name), *of_b = find(b, name);
  if (!of_a || !of_b || of_a->value <= 0 || of_b->value <= 0) return "";
  const double ratio = std::max(of_a->value, of_b->value) / std::min(of_a->value, of_b->value);
  const std::string &first = a.label, &second = b.label;
  if (ratio < 1.005) return first + " and " + second + " take equally long";
  return fmt::format("{} is {:.{}f}x faster", of_b->value < of_a->value ? second : first, ratio,
                     ratio < 10 ? 2 : 1);
}

}  // namespace trainscope::report
