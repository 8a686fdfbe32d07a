#include "ui/app/lesson/search_range.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::ui {
namespace {

// The step that a span begins in, until its last work is done; of what is in none, what lies
// between two, before the first or after the last. Nothing where there are no steps.
std::optional<TimeRange> stretch_of(const trace::Trace& trace, const trace::Span& span) {
  const auto steps = analysis::step_windows(trace);
  if (steps.empty()) return std::nullopt;
  TimeRange between{0, trace.end()};
  for (const analysis::StepWindow& step : steps) {
    const TimeRange range{step.mark.start, std::max(step.window.end, step.mark.end)};
    if (span.start >= range.start && span.start < range.end) return range;
    if (range.end <= span.start) between.start = std::max(between.start, range.end);
    if (range.start > span.start) between.end = std::min(between.end, range.start);
  }
  return between;
}

// With the few nearest spans of its lane in that step that one could take for it: of such as come
// at even distances more after it than before it, so that it does not stand in the middle. It is a
// fifth of what is shown at most, and to be found in it.
TimeRange range_beside(const trace::Trace& trace, const trace::Span& span, TimeRange step) {
  constexpr std::size_t kBeside = 5;
  constexpr Nanos kLeast = 2, kMost = 40;  // of its length, on each side
  struct Other {
    Nanos apart;
    bool before;
    TimeRange range;
  };
  std::vector<Other> others;
  trace::for_each(trace.spans(), [&](const trace::Span& one, trace::SpanId) {
    const bool before = one.end() <= span.start;
    if (one.lane != span.lane || one.duration < span.duration / 2 || one.start < step.start ||
        one.end() > step.end || (!before && one.start < span.end()))
      return;
    const Nanos apart = before ? span.start - one.end() : one.start - span.end();
    others.push_back({apart, before, {one.start, one.end()}});
  });
  std::ranges::sort(others, {}, [](const Other& one) { return std::pair(one.apart, one.before); });
  others.resize(std::min(others.size(), kBeside));
  const Nanos length = std::max<Nanos>(span.duration, 1);
  const Nanos least = (others.empty() ? kMost : kLeast) * length, most = kMost * length;
  TimeRange range{span.start - least, span.end() + least};
  for (const Other& one : others) {
    range.start = std::min(range.start, std::max(one.range.start, span.start - most));
    range.end = std::max(range.end, std::min(one.range.end, span.end() + most));
  }
  return {std::max(step.start, range.start), std::min(step.end, range.end)};
}

}  // namespace

std::optional<TimeRange> range_to_search(const trace::Trace& trace, trace::SpanId id, Nanos whole) {
  constexpr Nanos kShare = 100;  // of what is shown, that can be seen and clicked
  constexpr Nanos kNamed = 8;    // that has room for its name
  const trace::Span& span = trace.spans()[id];
  if (span.duration > whole / kShare) return std::nullopt;
  const auto step = stretch_of(trace, span);
  if (!step || span.duration > (step->end - step->start) / kNamed) return step;
  return range_beside(trace, span, *step);
}

}  // namespace trainscope::ui
