#include "analysis/metrics/metrics.h"

#include <cmath>

#include "base/error.h"
#include "base/suggest.h"
#include "base/units.h"

namespace trainscope::analysis {

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const Metric& metric : metrics()) names.push_back(metric.name);
  return names;
}

const Metric& find_metric(std::string_view name) {
  for (const Metric& metric : metrics())
    if (metric.name == name) return metric;
  throw InputError("there is no metric " + std::string(name) + did_you_mean(name, metric_names()) +
                   "; `trainscope metrics` lists them");
}

std::vector<MetricValue> compute_metrics(const Facts& facts) {
  std::vector<MetricValue> values;
  for (const Metric& metric : metrics()) {
    if (const auto value = metric.compute(facts)) values.push_back({&metric, *value});
  }
  return values;
}

std::optional<double> value_of(const std::vector<MetricValue>& values, std::string_view name) {
  for (const MetricValue& one : values)
    if (one.metric->name == name) return one.value;
  return std::nullopt;
}

std::string show(const Metric& metric, double value) {
  if (!std::isfinite(value)) return "diverged";
  if (metric.factor) return format_factor(value);
  return format_value(value, metric.share ? "%" : metric.unit);
}

}  // namespace trainscope::analysis
