// A sweep: one config run for each combination of values of some knobs, on all cores.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/metrics/metrics.h"
#include "program/config.h"
#include "trace/trace.h"

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
// Throws InputError for more than these.
void refuse_too_many(std::size_t count);

// "64 KiB": as a person writes a value, where that is read again as the same.
std::string spell_value(const program::Knob& knob, const program::Value& value);
// "1, 2, 4": as parse_axis reads them.
std::string spell_values(const SweepAxis& axis);

// Whether the values are numbers, along which a line may go.
bool is_ordered(const SweepAxis& axis);

// Where a value stands among the axis's own, counted from 0: 2 where it is the third of them, 2.5
// half way to the fourth. Nothing where it is outside, or a word that is none of them.
std::optional<double> place_on(const SweepAxis& axis, const program::Value& value);

// One combination, with each side that was asked for.
struct SweepPoint {
  struct Side {
    std::string label;  // "A"
    std::vector<analysis::MetricValue> metrics;
    std::string ending;    // why the run ended before its program did; empty: it did not
    std::string refused;   // why this combination cannot run; empty: it can
    std::string caveat;    // of the run; mostly empty
    std::string machine;   // of the run, its id; empty: it cannot run
    trace::Origin origin;  // likewise
    bool over = false;     // false: still to come
  };
  std::vector<program::Value> values;  // one of each axis
  std::vector<Side> sides;
};

struct Sweep {
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;  // the last axis changes fastest
};

using LabelledConfig = std::pair<std::string, program::Config>;

// A config with the axes' knobs at these values, one of each axis.
program::Config config_at(const program::Config& base, const std::vector<SweepAxis>& axes,
                          const std::vector<program::Value>& values);

// Sides that differ in nothing but what the axes vary are one: "A and B".
std::vector<LabelledConfig> distinct_sides(const std::vector<LabelledConfig>& sides,
                                           const std::vector<SweepAxis>& axes);

// All points of a sweep before any has run. Throws as run_sweep does.
Sweep planned_sweep(const std::vector<LabelledConfig>& sides, std::vector<SweepAxis> axes);

// Told of each run that is over, from any thread: its point, its side, and what came of it.
using SweepArrival =
    std::function<void(std::size_t point, std::size_t side, const SweepPoint::Side& result)>;

// Runs every combination on `threads` threads. The result does not depend on how many they are.
// `progress` is told how many runs are over, from any thread; once `stop` is true the
// runs under way end, and they and those to come are not over. Throws InputError for an axis that
// is given twice, and for more than kMostCombinations runs.
Sweep run_sweep(const std::vector<LabelledConfig>& sides, std::vector<SweepAxis> axes, int threads,
                const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop,
                const SweepArrival& arrived = {});

// Leaves the points whose sides are all over. How many were left out.
std::size_t drop_unfinished(Sweep& sweep);

// The metrics that any run has, in registry order.
std::vector<const analysis::Metric*> metrics_of(const Sweep& sweep);

// What a table or a picture shows first: of those that matter most, at most `most` that change; an
// epoch's time is one where a knob of the loader, or of the cores that it has, is varied.
std::vector<const analysis::Metric*> telling_metrics(const Sweep& sweep, std::size_t most);

}  // namespace trainscope::scenario
