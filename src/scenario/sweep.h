// A sweep: one config run for each combination of values of some knobs, on all cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/metrics.h"
#include "program/config.h"

namespace trainscope::scenario {

// One knob and the values it takes, in the order in which they were given.
struct SweepAxis {
  const program::Knob* knob = nullptr;
  std::vector<program::Value> values;
};

// Reads "knob=a,b,c" or "knob=lo..hi", where ":xK" multiplies by K from one value to the next and
// ":+K" adds it; without either a range doubles. lo belongs to a range, and hi where it is hit.
// Throws InputError for an unknown knob, a value that the knob does not take, one that comes
// twice, a range that does not grow, and for more than kMostCombinations values.
SweepAxis parse_axis(std::string_view text);

inline constexpr std::size_t kMostCombinations = 10'000;

// One combination, with each side that was asked for.
struct SweepPoint {
  struct Side {
    std::string label;  // "A"
    std::vector<analysis::MetricValue> metrics;
    std::string ending;   // why the run ended before its program did; empty: it did not
    std::string refused;  // why this combination cannot run; empty: it can
  };
  std::vector<program::Value> values;  // one of each axis
  std::vector<Side> sides;
};

struct Sweep {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  // the last axis changes fastest
};

using LabelledConfig = std::pair<std::string, program::Config>;

// Runs every combination on `threads` threads. The result does not depend on how many they are.
// `progress` is told how many runs are over, from any thread; once `stop` is true the
// runs under way end, and Error of Fault::kFailed is thrown. Throws InputError for an axis that is
// given twice, and for more than kMostCombinations runs.
Sweep run_sweep(const std::vector<LabelledConfig>& sides, std::vector<SweepAxis> axes, int threads,
                const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop);

// The metrics that any run has, in registry order.
std::vector<const analysis::Metric*> metrics_of(const Sweep& sweep);

// What a table or a picture shows first: of those that matter most, at most `most` that change.
std::vector<const analysis::Metric*> telling_metrics(const Sweep& sweep, std::size_t most);

}  // namespace trainscope::scenario
