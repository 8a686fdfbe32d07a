// The metric registry: every number that Trainscope states about a run, once. It feeds the compare
// panel, --json, the expectations of lessons, and the report.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/facts.h"

namespace trainscope::analysis {

struct Metric {
  std::string name;   // "time.step"
  std::string unit;   // ns, B, B/s, FLOP/s, samples/s, 1
  std::string label;  // short, for tables: "step time"
  std::string help;
  // Nothing when the metric does not apply to the run.
  std::function<std::optional<double>(const Facts&)> compute;
  bool share = false;          // unit 1, read as a percentage
  bool factor = false;         // unit 1, read with all its digits
  bool less_is_better = true;  // for words such as "B is 1.4x faster"
};

// All metrics, in the order in which they are shown.
const std::vector<Metric>& metrics();

// Throws InputError with "did you mean".
const Metric& find_metric(std::string_view name);
std::vector<std::string> metric_names();

struct MetricValue {
  const Metric* metric = nullptr;
  double value = 0;
};

// The metrics that apply, in registry order.
std::vector<MetricValue> compute_metrics(const Facts& facts);

std::optional<double> value_of(const std::vector<MetricValue>& values, std::string_view name);

// "20.3 ms", "54.8 GB/s", "64 %"; "diverged" for what is no finite number.
std::string show(const Metric& metric, double value);

}  // namespace trainscope::analysis
