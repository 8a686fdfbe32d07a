// When copies are under way: from the call, or from when nothing was left that they waited for.

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "analysis/causes/stream_order.h"
#include "analysis/steps/by_correlation.h"
#include "analysis/steps/measured.h"
#include "analysis/views/copy_steps.h"
#include "base/time_ends.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::Span;

// A file may claim any number of bytes.
std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

std::vector<trace::SpanId> copies_of(const Measured& measured, Category direction) {
  std::vector<trace::SpanId> copies;
  trace::for_each(measured.trace->spans(), [&](const Span& span, trace::SpanId id) {
    const trace::Lane& lane = measured.trace->lanes()[span.lane];
    if (span.category == direction && lane.kind == trace::LaneKind::kStream &&
        measured.is_own(lane))
      copies.push_back(id);
  });
  return copies;
}

// A host's call, and its thread.
struct HostCall {
  Interval time;
  trace::LaneId lane = trace::kNone;
  bool operator==(const HostCall&) const = default;
};

// When host threads ended a wait for work of a device, by thread and time: a call that stages
// pageable memory begins with one, for its stream and whatever that waits for itself.
using Waits = std::map<trace::LaneId, std::vector<Interval>>;

// The end of the last wait within the call that was over as the copy began; the call's start where
// there was none.
Nanos waited_until(const Waits& waits, const HostCall& call, const Span& copy) {
  const auto own = waits.find(call.lane);
  if (own == waits.end()) return call.time.start;
  const auto behind = std::ranges::upper_bound(own->second, copy.start, {}, &Interval::end);
  if (behind == own->second.begin() || std::prev(behind)->start < call.time.start)
    return call.time.start;
  return std::prev(behind)->end;
}

// Its stream was free, and the event had happened that it waited for last.
Nanos free_for(const Span& copy, const StreamOrder& order, const trace::Trace& trace) {
  const Nanos free = order.free_before(copy, copy.start);
  if (copy.cause != trace::Cause::kEvent || copy.cause_span == trace::kNone) return free;
  return std::max(free, std::min(trace.spans()[copy.cause_span].end(), copy.start));
}

}  // namespace

CopyTimes copy_times(const Measured& measured, Category direction) {
  const trace::Trace& trace = *measured.trace;
  CopyTimes times;
  const std::vector<trace::SpanId> copies = copies_of(measured, direction);
  if (copies.empty()) return times;
  ByCorrelation<HostCall> calls(trace, {{kBeforeAll, kBeforeAll}});
  Waits waits;
  trace::for_each(trace.spans(), [&](const Span& span, trace::SpanId) {
    if (span.category == Category::kHeld && span.cause == trace::Cause::kDevice)
      waits[span.lane].push_back({span.start, span.end()});
    if (!is_joined_call(span)) return;
    const HostCall call{{span.start, span.end()}, span.lane};
    // What holds a thread within a call is not the call.
    span.category == Category::kHeld ? calls.add(span.correlation, call)
                                     : calls.set(span.correlation, call);
  });
  for (auto& [lane, of_lane] : waits) std::ranges::sort(of_lane, {}, &Interval::end);
  const StreamOrder order(trace, direction, StreamOrder::Of::kStream);
  const Interval steps = calls_of_steps(measured);
  std::vector<Interval> intervals;
  for (const trace::SpanId id : copies) {
    const Span& span = trace.spans()[id];
    Interval interval{span.start, span.end()};
    // Without a call, when it was done is all that tells which step it is of.
    bool is_measured = interval.end > measured.window.start && interval.end <= measured.window.end;
    if (const HostCall* call = calls.find(span.correlation)) {
      is_measured = call->time.start >= steps.start && call->time.start < steps.end;
      // What it stood behind on its stream, or waited for there, is not the copy.
      interval.start = std::min(
          span.start, std::max(waited_until(waits, *call, span), free_for(span, order, trace)));
      // Into pageable memory, the copy is complete when the call returns.
      const auto* detail = trace.detail(span);
      const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
      if (copy && copy->to == trace::Memory::kPageable)
        interval.end = std::max(interval.end, call->time.end);
    }
    if (!is_measured) continue;
    intervals.push_back(interval);
    ++times.count;
    if (const auto* detail = trace.detail(span))
      if (const auto* copy = std::get_if<trace::CopyDetail>(detail))
        times.bytes = saturating_sum(times.bytes, copy->bytes);
  }
  times.intervals = IntervalSet(std::move(intervals));
  return times;
}

}  // namespace trainscope::analysis
