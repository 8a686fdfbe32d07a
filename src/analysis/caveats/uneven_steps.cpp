#include "analysis/caveats/uneven_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/steps/step_marks.h"
#include "base/median.h"

namespace trainscope::analysis {
namespace {

constexpr double kUneven = 1.5;

// As Kineto names CUPTI's records of overhead (overheadKindString,
// libkineto/src/CuptiActivity.cpp).
constexpr std::array<std::string_view, 3> kLoads{"Runtime Triggered Module Loading",
                                                 "Lazy Function Loading", "Driver Compiler"};
constexpr std::array<std::string_view, 6> kOfProfiler{
    "Buffer Flush",        "Instrumentation",         "Resource",
    "Command Buffer Full", "Activity Buffer Request", "UVM Activity Init"};

bool is_one_of(std::string_view name, auto names) {
  return std::ranges::find(names, name) != names.end();
}

bool is_uneven(Nanos length, Nanos usual) {
  return static_cast<double>(length) >= kUneven * static_cast<double>(usual);
}

// Of the rank whose times are measured, those of the measured steps.
std::vector<Interval> steps_of(const Measured& measured) {
  std::vector<Interval> steps;
  const std::vector<RankedStep> all = ranked_steps(*measured.trace);
  const auto first = static_cast<std::size_t>(measured.first_step);
  const std::size_t end = std::min(all.size(), first + static_cast<std::size_t>(measured.steps));
  for (std::size_t i = first; i < end; ++i) {
    const auto own = all[i].windows_of_ranks.find(measured.rank);
    steps.push_back(own == all[i].windows_of_ranks.end() ? all[i].window : own->second);
  }
  return steps;
}

// What of these times the profiler recorded as overhead of these names.
double share_of(const Measured& measured, const IntervalSet& times, auto names) {
  const trace::Trace& trace = *measured.trace;
  std::vector<Interval> overhead;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category == trace::Category::kOther && is_one_of(trace.name(span), names) &&
        measured.is_own(trace.lanes()[span.lane]))
      overhead.push_back({span.start, span.end()});
  });
  const Nanos time = IntervalSet(std::move(overhead)).intersected(times).length();
  return static_cast<double>(time) / static_cast<double>(times.length());
}

std::string overhead_words(const Measured& measured, std::vector<Interval> uneven) {
  constexpr double kLeast = 0.1;
  const IntervalSet times(std::move(uneven));
  const double loads = share_of(measured, times, kLoads),
               profiler = share_of(measured, times, kOfProfiler);
  const auto percent = [](double share) { return std::lround(100 * share); };
  if (loads >= kLeast)
    return fmt::format(
        "{} % of such a step is CUDA's loading of kernels that are called for the first time: let "
        "the profiler's schedule warm up for more steps",
        percent(loads));
  if (profiler < kLeast) return "";
  return fmt::format(
      "{} % of such a step is the profiler's own work: record fewer steps or less of each",
      percent(profiler));
}

}  // namespace

std::string uneven_steps_caveat(const Measured& measured) {
  constexpr std::size_t kEnough = 3;
  if (measured.trace->origin().kind != trace::OriginKind::kImported) return "";
  const std::vector<Interval> steps = steps_of(measured);
  if (steps.size() < kEnough) return "";
  std::vector<Nanos> lengths;
  for (const Interval& step : steps) lengths.push_back(step.end - step.start);
  const Nanos usual = median(lengths);
  std::vector<Interval> uneven;
  for (const Interval& step : steps)
    if (usual > 0 && is_uneven(step.end - step.start, usual)) uneven.push_back(step);
  if (uneven.empty()) return "";
  // With one digit behind the point.
  const auto tenths =
      std::lround(10 * static_cast<double>(std::ranges::max(lengths)) / static_cast<double>(usual));
  const std::string words =
      uneven.size() == 1
          ? fmt::format(
                "One of the {} measured steps takes {}.{} times as long as the middle one: "
                "the times of a step are the mean of all",
                steps.size(), tenths / 10, tenths % 10)
          : fmt::format(
                "{} of the {} measured steps take up to {}.{} times as long as the middle "
                "one: the times of a step are the mean of all",
                uneven.size(), steps.size(), tenths / 10, tenths % 10);
  const std::string overhead = overhead_words(measured, std::move(uneven));
  return overhead.empty() ? words : words + ". " + overhead;
}

std::string resting_caveat(const Measured& measured) {
  if (measured.trace->origin().kind != trace::OriginKind::kImported || measured.steps == 0)
    return "";
  const RankMarks ranks = marks_by_rank(*measured.trace);
  const std::vector<StepMark>& marks = ranks.begin()->second;
  if (pauses(marks).empty()) return "";
  return fmt::format(
      "The numbers of its {} steps leave some out: the profiler rested there, and times are of the "
      "longest row of steps without a rest",
      marks.size());
}

}  // namespace trainscope::analysis
