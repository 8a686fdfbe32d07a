#include "trace/index.h"

#include <algorithm>

namespace trainscope::trace {
namespace {

// Longer spans first among those that start together, so that a parent precedes its children.
std::vector<std::vector<SpanId>> sorted_by_lane(const Trace& trace, std::uint32_t count) {
  std::vector<std::vector<SpanId>> by_lane(trace.lanes().size());
  for (SpanId id = 0; id < count; ++id) {
    const LaneId lane = trace.spans()[id].lane;
    if (lane >= by_lane.size()) by_lane.resize(lane + 1);  // a lane added since
    by_lane[lane].push_back(id);
  }
  for (auto& ids : by_lane) {
    const auto precedes = [&](SpanId a, SpanId b) {
      const Span &x = trace.spans()[a], &y = trace.spans()[b];
      if (x.start != y.start) return x.start < y.start;
      if (x.duration != y.duration) return x.duration > y.duration;
      return a < b;
    };
    // Streams and engines write their spans in order.
    if (!std::is_sorted(ids.begin(), ids.end(), precedes))
      std::sort(ids.begin(), ids.end(), precedes);
  }
  return by_lane;
}

// A span goes to the first row below every span that is still open, so that children stand under
// their parents; a row is free once its last span has ended.
void pack(const Trace& trace, const std::vector<SpanId>& ids, LaneIndex& lane) {
  std::vector<Nanos> row_ends;
  for (const SpanId id : ids) {
    const Span& span = trace.spans()[id];
    std::size_t row = row_ends.size();
    while (row > 0 && row_ends[row - 1] <= span.start) --row;
    if (row == row_ends.size()) {
      row_ends.push_back(0);
      lane.rows.emplace_back();
    }
    lane.rows[row].spans.push_back(id);
    row_ends[row] = span.end();
    lane.end = std::max(lane.end, span.end());
  }
  for (Row& row : lane.rows) row.spans.shrink_to_fit();  // they are kept for long
}

}  // namespace

TraceIndex build_index(const Trace& trace) {
  TraceIndex index;
  index.span_count = trace.spans().size();
  const auto by_lane = sorted_by_lane(trace, index.span_count);
  index.lanes.resize(by_lane.size());
  bool first = true;
  for (LaneId id = 0; id < by_lane.size(); ++id) {
    LaneIndex& lane = index.lanes[id];
    lane.lane = id;
    lane.span_count = by_lane[id].size();
    if (by_lane[id].empty()) continue;
    lane.start = trace.spans()[by_lane[id].front()].start;
    lane.end = lane.start;
    pack(trace, by_lane[id], lane);
    index.start = first ? lane.start : std::min(index.start, lane.start);
    index.end = first ? lane.end : std::max(index.end, lane.end);
    first = false;
  }
  return index;
}

std::size_t first_ending_after(const Trace& trace, const Row& row, Nanos time) {
  const auto found = std::partition_point(row.spans.begin(), row.spans.end(), [&](SpanId id) {
    return trace.spans()[id].end() <= time;
  });
  return static_cast<std::size_t>(found - row.spans.begin());
}

}  // namespace trainscope::trace
