// An index over a trace: each lane's spans in order of time, packed into rows so that spans that
// overlap never hide one another. A snapshot: it covers the spans that were there when it was made.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// The spans of one lane that do not overlap, by start. A child (a span inside another of the same
// lane) stands in a later row than its parent.
struct Row {
  std::vector<SpanId> spans;
};

struct LaneIndex {
  LaneId lane = 0;
  std::vector<Row> rows;
  std::size_t span_count = 0;
  Nanos start = 0;  // of the first span
  Nanos end = 0;    // of the last
};

struct TraceIndex {
  std::vector<LaneIndex> lanes;  // by LaneId
  std::uint32_t span_count = 0;  // spans covered
  Nanos start = 0;
  Nanos end = 0;
};

TraceIndex build_index(const Trace& trace);

// The first position in `row` whose span ends after `time`.
std::size_t first_ending_after(const Trace& trace, const Row& row, Nanos time);

}  // namespace trainscope::trace
