#include "analysis/steps/range_use.h"

#include <algorithm>
#include <variant>

namespace trainscope::analysis {
namespace {

using trace::Span;
using trace::SpanId;
using trace::Trace;

// A place in a row, moving from left to right.
struct Cursor {
  const std::vector<SpanId>* spans = nullptr;
  std::size_t at = 0;
};

// Instants belong to the range that they begin in, its end left out.
bool is_within(const Span& span, const Interval& range) {
  if (span.start >= range.end) return false;
  return span.end() > range.start || (span.duration == 0 && span.start == range.start);
}

double bytes_within(const Trace& trace, const Span& span, Nanos inside) {
  const trace::Detail* detail = trace.detail(span);
  const auto* copy = detail ? std::get_if<trace::CopyDetail>(detail) : nullptr;
  if (!copy) return 0;
  const auto bytes = static_cast<double>(copy->bytes);
  if (span.duration == 0) return bytes;
  return bytes * static_cast<double>(inside) / static_cast<double>(span.duration);
}

// The spans of all rows by their start: each row is in order, and there are few of them.
class LaneWalk {
 public:
  LaneWalk(const Trace& trace, const trace::LaneIndex& lane, Nanos from) : trace_(trace) {
    for (const trace::Row& row : lane.rows) {
      const auto first = std::partition_point(row.spans.begin(), row.spans.end(), [&](SpanId id) {
        return trace.spans()[id].end() < from;
      });
      cursors_.push_back({&row.spans, static_cast<std::size_t>(first - row.spans.begin())});
    }
  }

  const Span* next() {
    Cursor* earliest = nullptr;
    for (Cursor& cursor : cursors_)
      if (cursor.at < cursor.spans->size() &&
          (!earliest || span_at(cursor).start < span_at(*earliest).start))
        earliest = &cursor;
    if (!earliest) return nullptr;
    const Span& span = span_at(*earliest);
    ++earliest->at;
    return &span;
  }

 private:
  const Span& span_at(const Cursor& cursor) const {
    return trace_.spans()[(*cursor.spans)[cursor.at]];
  }

  const Trace& trace_;
  std::vector<Cursor> cursors_;
};

LaneUse lane_use(const Trace& trace, const trace::LaneIndex& lane, const Interval& range) {
  LaneUse use;
  use.lane = lane.lane;
  LaneWalk walk(trace, lane, range.start);
  Nanos covered = range.start;  // up to here the range is accounted for
  while (const Span* span = walk.next()) {
    if (span->start >= range.end) break;
    if (!is_within(*span, range)) continue;
    ++use.spans;
    const Nanos start = std::max(span->start, range.start), end = std::min(span->end(), range.end);
    use.bytes += bytes_within(trace, *span, end - start);
    use.busy += std::max<Nanos>(end - std::max(start, covered), 0);
    covered = std::max(covered, end);
  }
  return use;
}

}  // namespace

double RangeUse::share(const LaneUse& use) const {
  if (range.end <= range.start) return 0;
  return static_cast<double>(use.busy) / static_cast<double>(range.end - range.start);
}

RangeUse use_within(const Trace& trace, const trace::TraceIndex& index, const Interval& range) {
  RangeUse use;
  use.range = range;
  for (const trace::LaneIndex& lane : index.lanes)
    use.lanes.push_back(lane_use(trace, lane, range));
  return use;
}

}  // namespace trainscope::analysis
