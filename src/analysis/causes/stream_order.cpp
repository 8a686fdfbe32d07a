#include "analysis/causes/stream_order.h"

#include <algorithm>

#include "analysis/steps/lane_kinds.h"
#include "base/time_ends.h"

namespace trainscope::analysis {

StreamOrder::StreamOrder(const trace::Trace& trace, trace::Category category, Of of)
    : trace_(trace), of_(of) {
  const std::vector<trace::LaneKind> kinds = lane_kinds(trace);
  const auto on_stream = [&](const trace::Span& span) {
    return kinds[span.lane] == trace::LaneKind::kStream;
  };
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category == category && on_stream(span)) ends_.try_emplace(place_of(span.lane));
  });
  if (ends_.empty()) return;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (!trace::is_gpu_work(span.category) || !on_stream(span)) return;
    if (const auto place = ends_.find(place_of(span.lane)); place != ends_.end())
      place->second.push_back({span.end(), span.correlation});
  });
  for (auto& [place, ends] : ends_) std::ranges::stable_sort(ends, {}, &End::time);
}

std::int64_t StreamOrder::place_of(trace::LaneId lane) const {
  return of_ == Of::kDevice ? std::int64_t{trace_.lanes()[lane].device} : std::int64_t{lane};
}

Nanos StreamOrder::free_before(const trace::Span& span, Nanos time) const {
  const auto place = ends_.find(place_of(span.lane));
  if (place == ends_.end()) return kBeforeAll;
  const std::vector<End>& ends = place->second;
  auto end = std::ranges::upper_bound(ends, time, {}, &End::time);
  while (end != ends.begin() && span.correlation != 0 &&
         std::prev(end)->correlation == span.correlation)
    --end;
  return end == ends.begin() ? kBeforeAll : std::prev(end)->time;
}

}  // namespace trainscope::analysis
