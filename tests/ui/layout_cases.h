// Small traces, and the layout of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/timeline/layout.h"

namespace trainscope::ui::layout_cases {

using namespace trainscope::trace;

inline Trace empty_trace() {
  return Trace(Origin{OriginKind::kSimulated, "test", ""});
}

inline LaneId add_lane(Trace& trace, const std::string& name, const std::string& group = "") {
  Lane lane;
  lane.name = name;
  lane.group = group;
  return trace.add_lane(lane);
}

inline SpanId add_span(Trace& trace, LaneId lane, Nanos start, Nanos duration,
                       Category category = Category::kKernel, std::string_view name = "work") {
  Span span;
  span.lane = lane;
  span.start = start;
  span.duration = duration;
  span.category = category;
  span.name = trace.intern(name);
  return trace.add_span(span);
}

inline TimelineLayout laid_out(const Trace& trace, const LayoutRequest& request,
                               const std::vector<IdleGap>& gaps = {}) {
  const TraceIndex index = build_index(trace);
  return lay_out(trace, index, build_draw_index(trace, index), request, gaps);
}

inline LayoutRequest request_of(Nanos start, Nanos end, float width = 1000) {
  LayoutRequest request;
  request.view_start = start;
  request.view_end = end;
  request.width = width;
  return request;
}

}  // namespace trainscope::ui::layout_cases
