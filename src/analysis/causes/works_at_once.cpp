#include "analysis/causes/works_at_once.h"

#include <algorithm>

namespace trainscope::analysis {

using trace::Span;
using trace::SpanId;

WorksAtOnce::WorksAtOnce(const trace::Trace& trace) : trace_(trace) {
  trace::for_each(trace.spans(), [&](const Span& span, SpanId id) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    const bool holds_sms =
        trace::is_kernel(span.category) || span.category == trace::Category::kCollective;
    if (holds_sms && lane.kind == trace::LaneKind::kStream)
      devices_[{lane.rank, lane.device}].spans.push_back(id);
  });
  for (auto& [device, works] : devices_) {
    std::ranges::stable_sort(works.spans, {}, [&](SpanId id) { return trace.spans()[id].start; });
    Nanos latest = 0;
    for (const SpanId id : works.spans)
      works.latest.push_back(latest = std::max(latest, trace.spans()[id].end()));
  }
}

SpanId WorksAtOnce::first_beside(SpanId span) const {
  const Span& later = trace_.spans()[span];
  const trace::Lane& lane = trace_.lanes()[later.lane];
  const auto found = devices_.find({lane.rank, lane.device});
  if (found == devices_.end()) return trace::kNone;
  const auto& [spans, latest] = found->second;
  const auto after = std::ranges::lower_bound(spans, later.start, {},
                                              [&](SpanId id) { return trace_.spans()[id].start; });
  SpanId first = trace::kNone;
  for (auto i = after - spans.begin(); i > 0; --i) {
    const auto at = static_cast<std::size_t>(i - 1);
    if (latest[at] < later.start) break;
    const Span& before = trace_.spans()[spans[at]];
    if (before.lane != later.lane && before.end() >= later.start) first = spans[at];
  }
  return first;
}

}  // namespace trainscope::analysis
