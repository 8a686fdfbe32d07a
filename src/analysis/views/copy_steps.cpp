#include "analysis/views/copy_steps.h"

#include <algorithm>
#include <vector>

#include "analysis/steps/by_correlation.h"
#include "base/time_ends.h"

namespace trainscope::analysis {
namespace {

// When each copy of a direction was called for, as far as the trace joins them to calls.
std::vector<Nanos> calls_of_copies(const Measured& measured, trace::Category direction) {
  const trace::Trace& trace = *measured.trace;
  ByCorrelation<char> copied(trace, 0);
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (span.category == direction && span.correlation != 0 &&
        lane.kind == trace::LaneKind::kStream && measured.is_own(lane))
      copied.set(span.correlation, 1);
  });
  std::vector<Nanos> calls;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (is_joined_call(span) && measured.is_own(trace.lanes()[span.lane]) &&
        copied.find(span.correlation))
      calls.push_back(span.start);
  });
  std::ranges::sort(calls);
  return calls;
}

}  // namespace

Interval calls_of_steps(const Measured& measured) {
  const std::vector<Interval>& marks = measured.own_marks();
  if (marks.empty()) return {kBeforeAll, kEndless};
  return {marks.front().start, marks.back().end};
}

int steps_of_copies(const Measured& measured, trace::Category direction) {
  const std::vector<Interval>& marks = measured.own_marks();
  const int steps = measured.per();
  if (direction != trace::Category::kCopyH2D || static_cast<int>(marks.size()) != steps)
    return steps;
  const std::vector<Nanos> calls = calls_of_copies(measured, direction);
  const auto has_call = [&](const Interval& mark) {
    const auto first = std::ranges::lower_bound(calls, mark.start);
    return first != calls.end() && *first < mark.end;
  };
  const auto none = std::ranges::find_if_not(marks, has_call);
  const bool only_at_end = std::none_of(none, marks.end(), has_call);
  return only_at_end && none != marks.begin() ? static_cast<int>(none - marks.begin()) : steps;
}

}  // namespace trainscope::analysis
