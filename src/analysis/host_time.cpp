#include "analysis/host_time.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

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

  // Of the mark that holds `time`; nothing outside all of them.
  std::optional<std::size_t> step_of(Nanos time) const {
    const auto next =
        std::upper_bound(marks_.begin(), marks_.end(), time,
                         [](Nanos t, const Interval& mark) { return t < mark.start; });
    if (next == marks_.begin() || time >= std::prev(next)->end) return std::nullopt;
    return static_cast<std::size_t>(std::prev(next) - marks_.begin());
  }

 private:
  const std::vector<Interval>& marks_;
};

// PyTorch's profiler and ours call them so: cudaLaunchKernel, cuLaunchKernelEx, cudaGraphLaunch.
bool is_launch(std::string_view name) {
  return name.starts_with("cu") && name.find("Launch") != std::string_view::npos;
}

std::vector<StepLaunches> launches_by_step(const Measured& measured) {
  const trace::Trace& trace = *measured.trace;
  const StepFinder finder(measured.marks);
  std::vector<StepLaunches> steps(measured.marks.size());
  std::unordered_map<std::uint32_t, std::size_t> step_of_call;  // by correlation
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (span.category != Category::kHostApi || span.correlation == 0) continue;
    const auto step = finder.step_of(span.start);
    if (!step || !is_launch(trace.name(span))) continue;
    step_of_call[span.correlation] = *step;
    ++steps[*step].calls;
    steps[*step].last_call = std::max(steps[*step].last_call, span.end());
  }
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (!trace::is_gpu_work(span.category)) continue;
    if (const auto call = step_of_call.find(span.correlation); call != step_of_call.end())
      steps[call->second].work_done = std::max(steps[call->second].work_done, span.end());
  }
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
  const auto steps = static_cast<double>(measured.marks.size());
  times.launches = static_cast<double>(calls) / steps;
  times.lead = static_cast<double>(lead) / steps;
}

void add_timers(const Measured& measured, HostTimes& times) {
  const trace::Trace& trace = *measured.trace;
  const StepFinder finder(measured.marks);
  const Span* first = nullptr;
  Nanos sum = 0;
  int count = 0;
  for (std::uint32_t i = 0, n = trace.spans().size(); i < n; ++i) {
    const Span& span = trace.spans()[i];
    if (span.category != Category::kAnnotation || trace.name(span) != program::kTimerMark) continue;
    if (trace.lanes()[span.lane].kind == LaneKind::kStream) continue;  // its shadow on the GPU
    if (!first || span.start < first->start) first = &span;
    if (!finder.step_of(span.start)) continue;
    sum += span.duration;
    ++count;
  }
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
