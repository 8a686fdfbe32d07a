#include "report/bars.h"

#include <algorithm>
#include <array>

#include "trace/labels.h"
#include "trace/mark_lanes.h"

namespace trainscope::report {
namespace {

using trace::Span;
using trace::SpanId;
using trace::Trace;

// A bar as it grows.
class Fold {
 public:
  Fold(const Span& span, SpanId id) {
    bar_.start = span.start;
    bar_.end = span.start;
    bar_.first = id;
    bar_.count = 0;
    add(span);
  }

  void add(const Span& span) {
    ++bar_.count;
    bar_.end = std::max(bar_.end, span.end());
    bar_.busy += span.duration;
    time_[static_cast<std::size_t>(span.category)] += span.duration + 1;
  }

  Nanos end() const { return bar_.end; }

  Bar bar() const {
    Bar bar = bar_;
    const auto most = std::max_element(time_.begin(), time_.end()) - time_.begin();
    bar.category = static_cast<trace::Category>(most);
    return bar;
  }

 private:
  Bar bar_;
  std::array<Nanos, trace::kCategoryCount> time_{};
};

Nanos cell_of(Nanos time, Nanos cell) {
  return time >= 0 ? time / cell : -1 - (-1 - time) / cell;
}

Bar bar_of(const Span& span, SpanId id) {
  return {span.start, span.end(), span.duration, id, 1, span.category};
}

BarRow fold_row(const Trace& trace, const std::vector<SpanId>& ids, Nanos cell) {
  BarRow row;
  const auto is_short = [&](std::size_t i) { return trace.spans()[ids[i]].duration < cell; };
  std::size_t at = 0;
  while (at < ids.size()) {
    const Span& first = trace.spans()[ids[at]];
    if (!is_short(at)) {
      row.push_back(bar_of(first, ids[at++]));
      continue;
    }
    Fold bar(first, ids[at]);
    const Nanos here = cell_of(first.start, cell);
    std::size_t next = at + 1;
    for (; next < ids.size() && is_short(next); ++next) {
      const Span& span = trace.spans()[ids[next]];
      if (cell_of(span.start, cell) != here) break;
      bar.add(span);
    }
    row.push_back(bar.bar());
    at = next;
  }
  return row;
}

// Rows from `first` on as one: what overlaps becomes one bar.
BarRow merge_rows(const Trace& trace, const trace::LaneIndex& lane, std::size_t first) {
  std::vector<SpanId> ids;
  for (std::size_t row = first; row < lane.rows.size(); ++row)
    ids.insert(ids.end(), lane.rows[row].spans.begin(), lane.rows[row].spans.end());
  std::sort(ids.begin(), ids.end(), [&](SpanId a, SpanId b) {
    const Nanos start_a = trace.spans()[a].start, start_b = trace.spans()[b].start;
    return start_a != start_b ? start_a < start_b : a < b;
  });
  BarRow row;
  for (std::size_t at = 0; at < ids.size();) {
    Fold bar(trace.spans()[ids[at]], ids[at]);
    std::size_t next = at + 1;
    for (; next < ids.size() && trace.spans()[ids[next]].start < bar.end(); ++next)
      bar.add(trace.spans()[ids[next]]);
    row.push_back(bar.bar());
    at = next;
  }
  return row;
}

// Neighbouring bars that begin in one cell as one.
BarRow fold_bars(const BarRow& bars, Nanos cell) {
  BarRow row;
  for (const Bar& bar : bars) {
    const bool joins = !row.empty() && bar.end - bar.start < cell &&
                       row.back().end - row.back().start < cell &&
                       cell_of(bar.start, cell) == cell_of(row.back().start, cell);
    if (!joins) {
      row.push_back(bar);
      continue;
    }
    Bar& last = row.back();
    if (bar.busy > last.busy) last.category = bar.category;
    last.end = bar.end;
    last.busy += bar.busy;
    last.count += bar.count;
  }
  return row;
}

LaneBars fold_lane(const Trace& trace, const trace::LaneIndex& lane, Nanos cell,
                   std::size_t most_rows) {
  LaneBars bars;
  bars.lane = lane.lane;
  const std::size_t all = lane.rows.size();
  const std::size_t plain = all <= most_rows ? all : most_rows - 1;
  for (std::size_t row = 0; row < plain; ++row)
    bars.rows.push_back(fold_row(trace, lane.rows[row].spans, cell));
  if (plain < all) {
    BarRow merged = merge_rows(trace, lane, plain);
    bars.rows.push_back(cell > 0 ? fold_bars(merged, cell) : std::move(merged));
    bars.rows_merged = all - plain;
  }
  return bars;
}

std::vector<bool> lanes_with_samples(const Trace& trace) {
  std::vector<bool> has(trace.lanes().size(), false);
  for (std::uint32_t i = 0, n = trace.samples().size(); i < n; ++i)
    if (trace.samples()[i].lane < has.size()) has[trace.samples()[i].lane] = true;
  return has;
}

}  // namespace

bool is_endless(const Trace& trace, const Bar& bar) {
  return bar.count == 1 && trace::has_no_end(trace, trace.spans()[bar.first]);
}

Bars fold(const Trace& trace, const trace::TraceIndex& index, Nanos cell, std::size_t most_rows) {
  Bars bars;
  bars.cell = cell;
  const std::vector<bool> sampled = lanes_with_samples(trace);
  const std::vector<trace::LaneId> repeated = trace::repeated_mark_lanes(trace, index);
  for (const trace::LaneIndex& lane : index.lanes) {
    if (std::ranges::find(repeated, lane.lane) != repeated.end()) continue;
    const bool has_samples = lane.lane < sampled.size() && sampled[lane.lane];
    if (lane.span_count == 0 && !has_samples) continue;
    if (trace.lanes()[lane.lane].kind == trace::LaneKind::kMemoryRole)
      continue;  // of the one above
    bars.lanes.push_back(fold_lane(trace, lane, cell, most_rows));
    for (const BarRow& row : bars.lanes.back().rows) bars.count += row.size();
  }
  return bars;
}

Bars fold_to(const Trace& trace, const trace::TraceIndex& index, std::size_t most_bars,
             std::size_t most_rows) {
  if (index.span_count <= most_bars) return fold(trace, index, 0, most_rows);
  const Nanos range = index.end - index.start;
  Nanos cell = std::max<Nanos>(range >> 20, 1);
  Bars bars = fold(trace, index, cell, most_rows);
  while (bars.count > most_bars && cell <= range) {
    cell *= 2;
    bars = fold(trace, index, cell, most_rows);
  }
  return bars;
}

}  // namespace trainscope::report
