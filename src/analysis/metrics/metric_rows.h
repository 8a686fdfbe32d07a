// The rows of the metric registry while it is put together, and what computes them.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/metrics/metrics.h"
#include "analysis/steps/facts.h"

namespace trainscope::analysis {

using Answer = std::optional<double>;
using Compute = std::function<Answer(const Facts&)>;

// In the order in which they are shown.
class Table {
 public:
  void add(const char* name, const char* unit, std::string_view label, const char* help,
           Compute compute) {
    Metric metric;
    metric.name = name;
    metric.unit = unit;
    metric.label = label;
    metric.help = help;
    metric.compute = std::move(compute);
    rows.push_back(std::move(metric));
  }
  void share(const char* name, const char* label, const char* help, Compute compute) {
    add(name, "1", label, help, std::move(compute));
    rows.back().share = true;
    rows.back().less_is_better = false;
  }
  void more_is_better(const char* name, const char* unit, const char* label, const char* help,
                      Compute compute) {
    add(name, unit, label, help, std::move(compute));
    rows.back().less_is_better = false;
  }
  std::vector<Metric> rows;
};

inline Nanos length(const Interval& interval) {
  return interval.end - interval.start;
}

// A time of the window, a step.
inline double a_step(const Facts& facts, Nanos time) {
  return static_cast<double>(time) / facts.measured.per();
}

void add_memory(Table& t);
void add_target(Table& t);
void add_roofline(Table& t);
// Their counts and rates are those of the whole job, as throughput.samples is: the sum over all its
// GPUs, whatever shares the work out to them. Shares of a peak are those of one GPU, in the mean.
void add_flops(Table& t);

}  // namespace trainscope::analysis
