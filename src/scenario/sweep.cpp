#include "scenario/sweep.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/ending.h"

namespace trainscope::scenario {
namespace {

using program::Knob;
using program::Value;

bool changes(const Sweep& sweep, const analysis::Metric& metric) {
  std::set<double> values;
  for (const SweepPoint& point : sweep.points)
    for (const SweepPoint::Side& side : point.sides)
      if (const auto value = analysis::value_of(side.metrics, metric.name)) values.insert(*value);
  return values.size() > 1;
}

// ---- Running -----------------------------------------------------------------------------------

void check_axes(const std::vector<LabelledConfig>& sides, const std::vector<SweepAxis>& axes) {
  std::size_t count = sides.size();
  std::set<const Knob*> seen;
  for (const SweepAxis& axis : axes) {
    if (!seen.insert(axis.knob).second)
      throw InputError(axis.knob->name + " is varied twice; list all its values in one --vary");
    count *= axis.values.size();
    refuse_too_many(count);
  }
}

std::vector<SweepPoint> points_of(const std::vector<SweepAxis>& axes) {
  std::vector<SweepPoint> points(1);
  for (const SweepAxis& axis : axes) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points)
      for (const Value& value : axis.values) {
        longer.push_back(point);
        longer.back().values.push_back(value);
      }
    points = std::move(longer);
  }
  return points;
}

SweepPoint::Side run_side(const LabelledConfig& side, const Sweep& sweep, const SweepPoint& point,
                          const std::atomic<bool>& stop) {
  constexpr std::uint64_t kEventsAtOnce = 65536;  // some milliseconds
  SweepPoint::Side done;
  done.label = side.first;
  try {
    analysis::Session session(side.first, config_at(side.second, sweep.axes, point.values));
    while (!session.advance(kEventsAtOnce))
      if (stop) return done;
    const analysis::Run run = session.result();
    done.metrics = run.metrics;
    done.caveat = run.caveat;
    done.machine = run.machine->id;
    done.origin = run.trace->origin();
    if (run.ending) done.ending = sim::sentence(*run.ending);
  } catch (const InputError& error) {
    done.refused = error.what();
  }
  done.over = true;
  return done;
}

// What the threads share: which run is next, and the first failure that is not about input.
class Work {
 public:
  Work(const std::vector<LabelledConfig>& sides, Sweep& sweep,
       const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop,
       const SweepArrival& arrived)
      : sides_(sides), sweep_(sweep), progress_(progress), stop_(stop), arrived_(arrived) {}

  void carry_out() {
    const std::size_t runs = sweep_.points.size() * sides_.size();
    for (std::size_t i = next_++; i < runs && !stop_ && !failed_; i = next_++) {
      SweepPoint& point = sweep_.points[i / sides_.size()];
      try {
        SweepPoint::Side& side = point.sides[i % sides_.size()];
        side = run_side(sides_[i % sides_.size()], sweep_, point, stop_);
        if (arrived_ && side.over) arrived_(i / sides_.size(), i % sides_.size(), side);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failed_) error_ = std::current_exception();
        failed_ = true;
        return;
      }
      progress_(++done_);
    }
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::vector<LabelledConfig>& sides_;
  Sweep& sweep_;
  const std::function<void(std::size_t)>& progress_;
  const std::atomic<bool>& stop_;
  const SweepArrival& arrived_;
  std::atomic<std::size_t> next_{0}, done_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace

std::vector<const analysis::Metric*> metrics_of(const Sweep& sweep) {
  std::set<const analysis::Metric*> found;
  for (const SweepPoint& point : sweep.points)
    for (const SweepPoint::Side& side : point.sides)
      for (const analysis::MetricValue& one : side.metrics) found.insert(one.metric);
  std::vector<const analysis::Metric*> ordered;
  for (const analysis::Metric& metric : analysis::metrics())
    if (found.contains(&metric)) ordered.push_back(&metric);
  return ordered;
}

namespace {

// Batches that were loaded ahead hide what they change from the steps of a short run, and from an
// epoch's time they do not.
bool varies_loading(const Sweep& sweep) {
  return std::ranges::any_of(sweep.axes, [](const SweepAxis& axis) {
    return axis.knob->name.starts_with("loader.") || axis.knob->name == "host.cores";
  });
}

}  // namespace

std::vector<const analysis::Metric*> telling_metrics(const Sweep& sweep, std::size_t most) {
  constexpr std::string_view kMattersMost[] = {"time.step",
                                               "time.epoch",
                                               "time.total",
                                               "throughput.samples",
                                               "loss.final",
                                               "accuracy.final",
                                               "memory.peak_allocated",
                                               "throughput.tokens",
                                               "bandwidth.bus",
                                               "flops.achieved",
                                               "occupancy.achieved",
                                               "gpu.util",
                                               "bandwidth.h2d",
                                               "bandwidth.d2h",
                                               "bandwidth.dram"};
  const std::vector<const analysis::Metric*> there = metrics_of(sweep);
  std::vector<const analysis::Metric*> shown;
  for (const std::string_view name : kMattersMost) {
    const auto found = std::find_if(there.begin(), there.end(),
                                    [&](const auto* metric) { return metric->name == name; });
    if (found == there.end() || shown.size() == most) continue;
    if (name == "time.epoch" && !varies_loading(sweep)) continue;
    const bool total_beside_step = name == "time.total" && !shown.empty();
    if (!total_beside_step && (shown.empty() || changes(sweep, **found))) shown.push_back(*found);
  }
  return shown;
}

program::Config config_at(const program::Config& base, const std::vector<SweepAxis>& axes,
                          const std::vector<program::Value>& values) {
  program::Config config = base;
  for (std::size_t i = 0; i < axes.size(); ++i) config.set(axes[i].knob->name, values[i]);
  return config;
}

std::vector<LabelledConfig> distinct_sides(const std::vector<LabelledConfig>& sides,
                                           const std::vector<SweepAxis>& axes) {
  std::vector<program::Value> first;
  for (const SweepAxis& axis : axes) first.push_back(axis.values.front());
  std::vector<LabelledConfig> distinct;
  for (const LabelledConfig& side : sides) {
    const program::Config config = config_at(side.second, axes, first);
    const auto same = std::find_if(distinct.begin(), distinct.end(), [&](const auto& other) {
      return program::differing_knobs(config_at(other.second, axes, first), config).empty();
    });
    if (same == distinct.end())
      distinct.push_back(side);
    else
      same->first += " and " + side.first;
  }
  return distinct;
}

Sweep planned_sweep(const std::vector<LabelledConfig>& sides, std::vector<SweepAxis> axes) {
  check_axes(sides, axes);
  Sweep sweep;
  sweep.points = points_of(axes);
  sweep.axes = std::move(axes);
  for (SweepPoint& point : sweep.points)
    for (const LabelledConfig& side : sides) {
      point.sides.emplace_back();
      point.sides.back().label = side.first;
    }
  return sweep;
}

Sweep run_sweep(const std::vector<LabelledConfig>& sides, std::vector<SweepAxis> axes, int threads,
                const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop,
                const SweepArrival& arrived) {
  Sweep sweep = planned_sweep(sides, std::move(axes));
  Work work(sides, sweep, progress, stop, arrived);
  {
    const auto helpers = static_cast<std::size_t>(std::max(threads, 1) - 1);
    const std::vector<std::jthread> others = start_helpers(helpers, [&work] { work.carry_out(); });
    work.carry_out();
  }
  work.rethrow();
  return sweep;
}

std::size_t drop_unfinished(Sweep& sweep) {
  return std::erase_if(sweep.points, [](const SweepPoint& point) {
    return !std::ranges::all_of(point.sides, &SweepPoint::Side::over);
  });
}

}  // namespace trainscope::scenario
