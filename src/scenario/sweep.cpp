#include "scenario/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "analysis/run.h"
#include "base/error.h"
#include "sim/ending.h"

namespace trainscope::scenario {
namespace {

using program::Knob;
using program::KnobType;
using program::Value;

bool is_numeric(const Knob& knob) {
  return knob.type == KnobType::kInteger || knob.type == KnobType::kBytes ||
         knob.type == KnobType::kNumber;
}

double number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

// A range's ends and how it goes on.
struct Range {
  std::string from, to;
  bool multiplies = true;
  double by = 2;
};

std::optional<Range> range_in(const std::string& name, std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == text.npos) return std::nullopt;
  Range range;
  range.from = text.substr(0, dots);
  std::string_view rest = text.substr(dots + 2);
  const std::size_t colon = rest.find(':');
  range.to = rest.substr(0, colon);
  if (colon == rest.npos) return range;
  const std::string_view step = rest.substr(colon + 1);
  const char* const end = step.data() + step.size();
  const bool known = step.starts_with('x') || step.starts_with('+');
  const auto read = known ? std::from_chars(step.data() + 1, end, range.by)
                          : std::from_chars_result{end, std::errc::invalid_argument};
  if (read.ec != std::errc() || read.ptr != end)
    throw InputError(
        fmt::format("{}: \"{}\" is no step of a range; write :x4 to multiply by 4, :+8 "
                    "to add 8, or nothing to double",
                    name, step));
  range.multiplies = step.starts_with('x');
  return range;
}

// A value between two others, in the knob's own type: whole numbers stay whole.
Value value_at(const Knob& knob, double number) {
  if (knob.type == KnobType::kNumber) return program::checked(knob, number);
  return program::checked(knob, static_cast<std::int64_t>(std::llround(number)));
}

void check_growth(const Knob& knob, const Range& range, double from, double to) {
  const bool grows = range.multiplies ? range.by > 1 && from > 0 : range.by > 0;
  if (from <= to && grows && std::isfinite(range.by)) return;
  throw InputError(fmt::format(
      "{}: the range {}..{} never reaches its end by {}{:g}; write the smaller value first, and {}",
      knob.name, range.from, range.to, range.multiplies ? "x" : "+", range.by,
      range.multiplies ? "multiply what is above 0 by more than 1, or add, as :+1"
                       : "add more than 0"));
}

std::vector<Value> values_of(const Knob& knob, const Range& range) {
  if (!is_numeric(knob))
    throw InputError(knob.name + " is no number, and has no range; list its values: " + knob.name +
                     "=" +
                     (knob.type == KnobType::kBool ? "true,false"
                      : knob.choices.size() > 1    ? knob.choices[0] + "," + knob.choices[1]
                                                   : "a,b"));
  const double from = number_of(program::parse_value(knob, range.from));
  const double to = number_of(program::parse_value(knob, range.to));
  check_growth(knob, range, from, to);
  std::vector<Value> values;
  const double hair = std::abs(to) * 1e-12;  // so that 0.1..0.3:+0.1 has three values
  for (double i = 0; values.size() <= kMostCombinations; ++i) {
    const double number = range.multiplies ? from * std::pow(range.by, i) : from + range.by * i;
    if (number > to + hair) break;
    Value value = value_at(knob, std::min(number, to));
    if (values.empty() || values.back() != value) values.push_back(std::move(value));
  }
  return values;
}

std::vector<Value> listed_values(const Knob& knob, std::string_view text) {
  std::vector<Value> values;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    values.push_back(program::parse_value(knob, text.substr(start, comma - start)));
    start = comma + 1;
  }
  return values;
}

void check_once(const Knob& knob, const std::vector<Value>& values) {
  const std::set<Value> all(values.begin(), values.end());
  for (const Value& value : all)
    if (std::count(values.begin(), values.end(), value) > 1)
      throw InputError(knob.name + " takes the value " + program::spell(value) +
                       " twice; give it once");
}

void refuse_too_many(std::size_t count) {
  if (count > kMostCombinations)
    throw InputError(
        fmt::format("a sweep has at most {} combinations; give fewer values, or a "
                    "larger step (lo..hi:x4)",
                    kMostCombinations));
}

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
    program::Config config = side.second;
    for (std::size_t i = 0; i < sweep.axes.size(); ++i)
      config.set(sweep.axes[i].knob->name, point.values[i]);
    analysis::Session session(side.first, config);
    while (!session.advance(kEventsAtOnce))
      if (stop) return done;
    const analysis::Run run = session.result();
    done.metrics = run.metrics;
    if (run.ending) done.ending = sim::sentence(*run.ending);
  } catch (const InputError& error) {
    done.refused = error.what();
  }
  return done;
}

// What the threads share: which run is next, and the first failure that is not about input.
class Work {
 public:
  Work(const std::vector<LabelledConfig>& sides, Sweep& sweep,
       const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop)
      : sides_(sides), sweep_(sweep), progress_(progress), stop_(stop) {
    for (SweepPoint& point : sweep.points) point.sides.resize(sides.size());
  }

  void carry_out() {
    const std::size_t runs = sweep_.points.size() * sides_.size();
    for (std::size_t i = next_++; i < runs && !stop_ && !failed_; i = next_++) {
      SweepPoint& point = sweep_.points[i / sides_.size()];
      try {
        point.sides[i % sides_.size()] = run_side(sides_[i % sides_.size()], sweep_, point, stop_);
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

std::vector<const analysis::Metric*> telling_metrics(const Sweep& sweep, std::size_t most) {
  constexpr std::string_view kMattersMost[] = {
      "time.step",     "time.total",     "throughput.samples",
      "loss.final",    "accuracy.final", "memory.peak_allocated",
      "bandwidth.bus", "flops.achieved", "occupancy.achieved",
      "gpu.util",      "bandwidth.h2d",  "bandwidth.d2h"};
  const std::vector<const analysis::Metric*> there = metrics_of(sweep);
  std::vector<const analysis::Metric*> shown;
  for (const std::string_view name : kMattersMost) {
    const auto found = std::find_if(there.begin(), there.end(),
                                    [&](const auto* metric) { return metric->name == name; });
    if (found == there.end() || shown.size() == most) continue;
    const bool total_beside_step = name == "time.total" && !shown.empty();
    if (!total_beside_step && (shown.empty() || changes(sweep, **found))) shown.push_back(*found);
  }
  return shown;
}

SweepAxis parse_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw InputError(
        "\"" + std::string(text) +
        "\" varies nothing; write knob=a,b,c or knob=lo..hi, as in batch_size=1..1024");
  SweepAxis axis;
  axis.knob = &program::find_knob(text.substr(0, equals));
  const std::string_view values = text.substr(equals + 1);
  const std::optional<Range> range = range_in(axis.knob->name, values);
  axis.values = range ? values_of(*axis.knob, *range) : listed_values(*axis.knob, values);
  check_once(*axis.knob, axis.values);
  refuse_too_many(axis.values.size());
  return axis;
}

Sweep run_sweep(const std::vector<LabelledConfig>& sides, std::vector<SweepAxis> axes, int threads,
                const std::function<void(std::size_t)>& progress, const std::atomic<bool>& stop) {
  check_axes(sides, axes);
  Sweep sweep;
  sweep.points = points_of(axes);
  sweep.axes = std::move(axes);
  Work work(sides, sweep, progress, stop);
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&work] { work.carry_out(); });
    work.carry_out();
  }
  work.rethrow();
  if (stop) throw Error(Fault::kFailed, "stopped; nothing of the sweep was written");
  return sweep;
}

}  // namespace trainscope::scenario
