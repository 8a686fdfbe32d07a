#include "analysis/views/operation_spans.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "analysis/caveats/runtime_calls.h"
#include "analysis/steps/by_correlation.h"

namespace trainscope::analysis {
namespace {

using trace::Category;
using trace::LaneKind;
using trace::SpanId;

enum class Which { kAll, kKernels };

// The durations of what each call launched, by its correlation.
ByCorrelation<Nanos> launched_by_calls(const trace::Trace& trace, const OperationSpans& spans,
                                       Which which) {
  constexpr Nanos kNone = -1;
  ByCorrelation<Nanos> launched(trace, kNone);
  trace::for_each(trace.spans(), [&](const trace::Span& span, SpanId) {
    if (span.correlation == 0 || !spans.is_gpu_work(span)) return;
    if (which == Which::kKernels && !trace::is_kernel(span.category)) return;
    const Nanos* before = launched.find(span.correlation);
    launched.set(span.correlation, (before ? *before : 0) + span.duration);
  });
  return launched;
}

// Calls, and waits, of one thread after another, in the order in which they begin, the
// outer ones first.
std::vector<SpanId> calls_in_order(const trace::Trace& trace, const OperationSpans& spans) {
  struct Call {  // side by side: to sort millions by what spans far apart say takes twice as long
    trace::LaneId lane;
    SpanId id;
    Nanos start, duration;
  };
  std::vector<Call> calls;
  trace::for_each(trace.spans(), [&](const trace::Span& span, SpanId id) {
    const bool waits = span.category == Category::kHeld || is_joined_call(span);
    if (spans.is_host_call(span) || (waits && spans.is_on_host(span)))
      calls.push_back({span.lane, id, span.start, span.duration});
  });
  std::ranges::sort(calls, {}, [](const Call& call) {
    return std::tuple(call.lane, call.start, -call.duration, call.id);
  });
  std::vector<SpanId> ids;
  ids.reserve(calls.size());
  for (const Call& call : calls) ids.push_back(call.id);
  return ids;
}

// Adds the span's time, times `sign`, to the call around it; what lasts longer than that call, to
// the next one around both.
void take_from_open(const trace::Trace& trace, const trace::Span& span,
                    const std::vector<SpanId>& open, Nanos CallUse::* what, Nanos sign,
                    std::vector<CallUse>& uses) {
  Nanos from = span.start;
  for (auto call = open.rbegin(); call != open.rend() && from < span.end(); ++call) {
    const Nanos to = std::min(span.end(), trace.spans()[*call].end());
    if (to <= from) continue;
    uses[*call].*what += sign * (to - from);
    from = to;
  }
}

// The calls of each host thread that gives the device work, by their beginnings.
std::map<trace::LaneId, std::vector<Interval>> calls_of_launchers(
    const trace::Trace& trace, const OperationSpans& spans, const ByCorrelation<Nanos>& launched) {
  std::map<trace::LaneId, std::vector<Interval>> calls;
  std::set<trace::LaneId> launchers;
  trace::for_each(trace.spans(), [&](const trace::Span& span, SpanId) {
    if (!spans.is_host_call(span)) return;
    calls[span.lane].push_back({span.start, span.end()});
    if (is_joined_call(span) && launched.find(span.correlation)) launchers.insert(span.lane);
  });
  std::erase_if(calls, [&](const auto& one) { return !launchers.contains(one.first); });
  for (auto& [lane, of_lane] : calls) std::ranges::sort(of_lane, {}, &Interval::start);
  return calls;
}

// Python's loss.backward(): where it is recorded, as by with_stack=True, it is around autograd's
// work, which is another thread's.
bool waits_for_autograd(std::string_view name) {
  return name.find("run_backward") != name.npos;
}

// From the first call of another thread within a span to the last.
Nanos worked_by_others(const trace::Trace& trace, const trace::Span& span,
                       const std::map<trace::LaneId, std::vector<Interval>>& calls) {
  Interval worked{span.end(), span.start};
  for (const auto& [lane, of_lane] : calls) {
    if (lane == span.lane || trace.lanes()[lane].rank != trace.lanes()[span.lane].rank) continue;
    auto call = std::ranges::lower_bound(of_lane, span.start, {}, &Interval::start);
    for (; call != of_lane.end() && call->start < span.end(); ++call)
      worked = {std::min(worked.start, call->start),
                std::max(worked.end, std::min(call->end, span.end()))};
  }
  return std::max<Nanos>(worked.end - worked.start, 0);
}

}  // namespace

OperationSpans::OperationSpans(const Measured& measured)
    : measured_(measured),
      is_imported_(measured.trace->origin().kind == trace::OriginKind::kImported) {
  const auto& lanes = measured.trace->lanes();
  for (std::uint32_t i = 0, n = lanes.size(); i < n; ++i)
    has_engines_ |= lanes[i].kind == LaneKind::kCopyEngine && measured.counts(lanes[i]);
}

const trace::Lane& OperationSpans::lane_of(const trace::Span& span) const {
  return measured_.trace->lanes()[span.lane];
}

bool OperationSpans::is_gpu_work(const trace::Span& span) const {
  const trace::Lane& lane = lane_of(span);
  if (!measured_.counts(lane)) return false;
  if (lane.kind == LaneKind::kCopyEngine) return true;
  return lane.kind == LaneKind::kStream && trace::is_gpu_work(span.category) &&
         !(has_engines_ && trace::is_copy(span.category));
}

bool OperationSpans::is_on_host(const trace::Span& span) const {
  const trace::Lane& lane = lane_of(span);
  switch (lane.kind) {
    case LaneKind::kHostThread:
    case LaneKind::kLoader:
    case LaneKind::kPinThread:
    case LaneKind::kStaging:
      return measured_.counts(lane);
    default:
      return false;
  }
}

bool OperationSpans::is_host_call(const trace::Span& span) const {
  if (!is_on_host(span) || span.category == Category::kAnnotation) return false;
  return span.category != Category::kHeld || is_imported_ ||
         is_call_of_runtime(measured_.trace->name(span));
}

namespace {

// What autograd's thread does meanwhile is no time of the thread that waits for it.
void leave_to_autograd(const trace::Trace& trace, const OperationSpans& spans,
                       const ByCorrelation<Nanos>& launched, std::vector<CallUse>& uses) {
  std::vector<SpanId> waits;
  trace::for_each(trace.spans(), [&](const trace::Span& span, SpanId id) {
    if (spans.is_host_call(span) && waits_for_autograd(trace.name(span))) waits.push_back(id);
  });
  if (waits.empty()) return;
  const auto calls = calls_of_launchers(trace, spans, launched);
  for (const SpanId id : waits)
    uses[id].self =
        std::max<Nanos>(uses[id].self - worked_by_others(trace, trace.spans()[id], calls), 0);
}

}  // namespace

std::vector<CallUse> call_uses(const Measured& measured, const OperationSpans& spans) {
  const trace::Trace& trace = *measured.trace;
  ByCorrelation<Nanos> launched = launched_by_calls(trace, spans, Which::kAll);
  const ByCorrelation<Nanos> kernels = launched_by_calls(trace, spans, Which::kKernels);
  std::vector<CallUse> uses(trace.spans().size());
  std::vector<SpanId> open;  // calls that have begun, the innermost last
  for (const SpanId id : calls_in_order(trace, spans)) {
    const trace::Span& span = trace.spans()[id];
    const auto is_over = [&](SpanId other) {
      return trace.spans()[other].lane != span.lane || trace.spans()[other].end() <= span.start;
    };
    std::erase_if(open, is_over);
    if (spans.is_host_call(span)) {
      uses[id].self += span.duration;
      take_from_open(trace, span, open, &CallUse::self, -1, uses);
      open.push_back(id);
    } else if (span.category == Category::kHeld) {
      take_from_open(trace, span, open, &CallUse::held, 1, uses);
    }
    // A call and the wait within it may both be joined to the same work.
    const Nanos* gpu = is_joined_call(span) ? launched.find(span.correlation) : nullptr;
    if (!gpu) continue;
    for (const SpanId call : open) uses[call].gpu += *gpu;
    const auto launcher = std::find_if(open.rbegin(), open.rend(), [&](SpanId call) {
      return trace.spans()[call].category == Category::kHostWork;
    });
    if (launcher != open.rend() && *gpu > 0) {
      uses[*launcher].self_gpu += *gpu;
      const Nanos* of_kernels = kernels.find(span.correlation);
      uses[*launcher].self_kernels += of_kernels ? *of_kernels : 0;
    }
    launched.set(span.correlation, 0);
  }
  leave_to_autograd(trace, spans, kernels, uses);
  return uses;
}

}  // namespace trainscope::analysis
