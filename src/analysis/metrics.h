// The metric registry: every number that Trainscope states about a run, once. It feeds the compare
// panel, --json, the expectations of lessons, and the report.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/collectives.h"
#include "analysis/host_time.h"
#include "analysis/learning.h"
#include "analysis/measured.h"
#include "analysis/memory_counters.h"
#include "analysis/memory_map.h"
#include "analysis/partition.h"
#include "analysis/roofline.h"
#include "analysis/sm_use.h"

namespace trainscope::analysis {

// What metrics are computed from; each part is computed once a run.
struct Facts {
  Measured measured;
  Partition partition;
  CopyTimes h2d;
  CopyTimes d2h;
  HostTimes host;
  CollectiveTimes collectives;
  Learning learning;
  SmFacts sms;
  Roofline roofline;
  MemoryPeaks peaks;  // of device memory
  RoleBytes roles;    // of what is allocated at its peak
};
Facts gather_facts(const trace::Trace& trace, const program::Program* program,
                   const machine::Machine* machine);

// The same from the first event to the last, steps or none: what a trace without steps is measured
// by.
Facts gather_whole_facts(const trace::Trace& trace, const program::Program* program,
                         const machine::Machine* machine);

// The same of every single step, warm-up included: what a series is made of.
std::vector<Facts> gather_step_facts(const trace::Trace& trace, const program::Program* program,
                                     const machine::Machine* machine);

struct Metric {
  std::string name;   // "time.step"
  std::string unit;   // ns, B, B/s, FLOP/s, samples/s, 1
  std::string label;  // short, for tables: "step time"
  std::string help;
  // Nothing when the metric does not apply to the run. Empty: declared, not built yet.
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
