#include "analysis/steps/host_time.h"

#include <algorithm>
#include <cstdint>

#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/by_correlation.h"
#include "program/marks.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::Span;

// The launches of one step and the work that they started.
struct StepLaunches {
  std::int64_t calls = 0;
  Nanos last_call = 0;  // its end
  Nanos work_done = 0;
};

class StepFinder {
 public:
  explicit StepFinder(const std::vector<Interval>& marks) : marks_(marks) {}

  // Of the mark that holds `time`; nothing outside all of them. Cheapest near the last one asked
  // for.
  std::optional<std::size_t> step_of(Nanos time) {
    if (!is_next(time)) {
      const auto next =
          std::upper_bound(marks_.begin(), marks_.end(), time,
                           [](Nanos t, const Interval& mark) { return t < mark.start; });
      next_ = static_cast<std::size_t>(next - marks_.begin());
    }
    if (next_ == 0 || time >= marks_[next_ - 1].end) return std::nullopt;
    return next_ - 1;
  }

 private:
  // The mark that was found last is the first one that begins after `time`, too.
  bool is_next(Nanos time) const {
    return (next_ == 0 || marks_[next_ - 1].start <= time) &&
           (next_ == marks_.size() || time < marks_[next_].start);
  }

  const std::vector<Interval>& marks_;
  std::size_t next_ = 0;
};

std::vector<bool> launch_names(const trace::Trace& trace) {
  std::vector<bool> launches(trace.name_count());
  for (trace::NameId name = 0; name < launches.size(); ++name)
    launches[name] = is_launch(trace.name(name));
  return launches;
}

std::vector<StepLaunches> launches_by_step(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const std::vector<bool> launches = launch_names(trace);
  const std::vector<Interval>& marks = measured.own_marks();
  StepFinder finder(marks);
  std::vector<StepLaunches> steps(marks.size());
  ByCorrelation<std::uint32_t> step_of_call(trace, UINT32_MAX);
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.category != Category::kHostApi || span.correlation == 0) return;
    if (!measured.is_own(trace.lanes()[span.lane])) return;
    const auto step = finder.step_of(span.start);
    if (!step || !launches[span.name]) return;
    step_of_call.set(span.correlation, static_cast<std::uint32_t>(*step));
    ++steps[*step].calls;
    steps[*step].last_call = std::max(steps[*step].last_call, span.end());
  });
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (!trace::is_gpu_work(span.category)) return;
    if (const std::uint32_t* step = step_of_call.find(span.correlation))
      steps[*step].work_done = std::max(steps[*step].work_done, span.end());
  });
  return steps;
}

void add_launches(const Measured& measured, HostTimes& times) {
  std::int64_t calls = 0;
  Nanos lead = 0;
  for (const StepLaunches& step : launches_by_step(measured)) {
    calls += step.calls;
    if (step.calls > 0) lead += std::max<Nanos>(0, step.work_done - step.last_call);
  }
  if (calls == 0) return;
  const auto steps = static_cast<double>(measured.own_marks().size());
  times.launches = static_cast<double>(calls) / steps;
  times.lead = static_cast<double>(lead) / steps;
}

void add_timers(const Measured& measured, HostTimes& times) {
  const trace::Trace& trace = *measured.trace;
  StepFinder finder(measured.marks);
  const Span* first = nullptr;
  Nanos sum = 0;
  int count = 0;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.category != Category::kAnnotation || trace.name(span) != program::kTimerMark) return;
    if (trace.lanes()[span.lane].kind == LaneKind::kStream) return;  // its shadow on the GPU
    if (!first || span.start < first->start) first = &span;
    if (!finder.step_of(span.start)) return;
    sum += span.duration;
    ++count;
  });
  if (first) times.first_timer = static_cast<double>(first->duration);
  if (count > 0) times.timer = static_cast<double>(sum) / count;
}

}  // namespace

HostTimes host_times(const Measured& measured) {
  HostTimes times;
  if (measured.marks.empty()) return times;
  add_launches(measured, times);
  add_timers(measured, times);
  return times;
}

}  // namespace trainscope::analysis
