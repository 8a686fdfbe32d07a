#include "trace/index.h"

#include <algorithm>
#include <numeric>

#include "base/parallel.h"
#include "trace/beside.h"

namespace trainscope::trace {
namespace {

// Longer spans first among those that start together, so that a parent precedes its children; those
// that are alike by number.
bool precedes(const Span& x, const Span& y) {
  return x.start != y.start ? x.start < y.start : x.duration > y.duration;
}

// The spans of one lane, as they were written.
struct LaneSpans {
  std::vector<SpanId> ids;
  bool ordered = true;         // streams and engines write their spans in order
  const Span* last = nullptr;  // while they are handed out

  void add(const Span& span, SpanId id) {
    ordered &= !last || !precedes(span, *last);
    last = &span;
    ids.push_back(id);
  }
};

std::vector<LaneSpans> by_lane(const Trace& trace, std::uint32_t count) {
  std::vector<std::size_t> sizes(trace.lanes().size());
  for_each(trace.spans(), [&](const Span& span, SpanId id) {
    if (id >= count) return;                                     // written since
    if (span.lane >= sizes.size()) sizes.resize(span.lane + 1);  // a lane added since
    ++sizes[span.lane];
  });
  std::vector<LaneSpans> lanes(sizes.size());
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane].ids.reserve(sizes[lane]);
  for_each(trace.spans(), [&](const Span& span, SpanId id) {
    if (id < count) lanes[span.lane].add(span, id);
  });
  return lanes;
}

void sort(const Trace& trace, LaneSpans& spans) {
  if (spans.ordered) return;
  std::sort(spans.ids.begin(), spans.ids.end(), [&](SpanId a, SpanId b) {
    const Span &x = trace.spans()[a], &y = trace.spans()[b];
    return precedes(x, y) || (!precedes(y, x) && a < b);
  });
}

// A span goes to the first row below every span that is still open, so that children stand under
// their parents; a row is free once its last span has ended.
void pack(const Trace& trace, const std::vector<SpanId>& ids, LaneIndex& lane) {
  std::vector<Nanos> row_ends;
  std::size_t placed = 0;
  for (const SpanId id : ids) {
    const Span& span = trace.spans()[id];
    std::size_t row = row_ends.size();
    while (row > 0 && row_ends[row - 1] <= span.start) --row;
    if (row == row_ends.size()) {
      row_ends.push_back(0);
      lane.rows.emplace_back().spans.reserve(ids.size() - placed);
    }
    ++placed;
    lane.rows[row].spans.push_back(id);
    row_ends[row] = span.end();
    lane.end = std::max(lane.end, span.end());
  }
  for (Row& row : lane.rows) row.spans.shrink_to_fit();  // they are kept for long
}

LaneIndex index_of(const Trace& trace, LaneId id, const std::vector<SpanId>& ids) {
  LaneIndex lane;
  lane.lane = id;
  lane.span_count = ids.size();
  if (ids.empty()) return lane;
  lane.start = lane.end = trace.spans()[ids.front()].start;
  pack(trace, ids, lane);
  return lane;
}

// So that what is left at the end is short.
std::vector<LaneId> largest_first(const std::vector<LaneSpans>& lanes) {
  std::vector<LaneId> order(lanes.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](LaneId lane) { return lanes[lane].ids.size(); });
  return order;
}

bool holds_no_run(const Trace& trace, const LaneIndex& lane) {
  return std::ranges::all_of(lane.rows, [&](const Row& row) {
    return std::ranges::all_of(row.spans, [&](SpanId span) {
      return is_beside_the_run(trace.lanes()[lane.lane], trace.spans()[span]);
    });
  });
}

// Of the run; where there is nothing else, of the marks beside it.
void find_extent(const Trace& trace, TraceIndex& index) {
  std::vector<const LaneIndex*> lanes, beside;
  for (const LaneIndex& lane : index.lanes)
    if (lane.span_count > 0) (holds_no_run(trace, lane) ? beside : lanes).push_back(&lane);
  bool first = true;
  for (const LaneIndex* one : lanes.empty() ? beside : lanes) {
    const LaneIndex& lane = *one;
    index.start = first ? lane.start : std::min(index.start, lane.start);
    index.end = first ? lane.end : std::max(index.end, lane.end);
    first = false;
  }
}

}  // namespace

TraceIndex build_index(const Trace& trace) {
  TraceIndex index;
  index.span_count = trace.spans().size();
  std::vector<LaneSpans> lanes = by_lane(trace, index.span_count);
  index.lanes.resize(lanes.size());
  const std::vector<LaneId> order = largest_first(lanes);
  const auto make = [&](std::size_t i) {
    const LaneId lane = order[i];
    sort(trace, lanes[lane]);
    index.lanes[lane] = index_of(trace, lane, lanes[lane].ids);
  };
  in_parallel(order.size(), make, index.span_count >= kWorthThreads);
  find_extent(trace, index);
  return index;
}

std::size_t first_ending_after(const Trace& trace, const Row& row, Nanos time) {
  const auto found = std::partition_point(row.spans.begin(), row.spans.end(), [&](SpanId id) {
    return trace.spans()[id].end() <= time;
  });
  return static_cast<std::size_t>(found - row.spans.begin());
}

}  // namespace trainscope::trace
