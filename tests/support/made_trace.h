// A trace that a test fills by hand, a lane and a span at a time.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace trainscope::test {

struct MadeTrace {
  explicit MadeTrace(trace::OriginKind origin = trace::OriginKind::kSimulated)
      : trace(trace::Origin{origin, "test", ""}) {}

  trace::LaneId lane(trace::LaneKind kind, std::int32_t device = -1) {
    trace::Lane lane;
    lane.kind = kind;
    lane.device = device;
    return trace.add_lane(lane);
  }
  trace::SpanId add(trace::LaneId lane, const char* name, Nanos start, Nanos end,
                    trace::Category category, std::uint32_t correlation = 0) {
    trace::Span span;
    span.lane = lane;
    span.name = trace.intern(name);
    span.start = start;
    span.duration = end - start;
    span.category = category;
    span.correlation = correlation;
    return trace.add_span(span);
  }

  trace::Trace trace;
};

}  // namespace trainscope::test
