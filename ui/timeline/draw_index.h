// What drawing a trace needs beside its index: times and categories of each row side by side, so
// that a search through a million spans stays within the cache; the folds of every zoom; and where
// each counter's samples are. Made once a trace, after its index; about 20 bytes a span.
#pragma once

#include <vector>

#include "trace/index.h"
#include "trace/trace.h"
#include "ui/timeline/folds.h"

namespace trainscope::ui {

// One row of a lane: the spans of trace::Row, in the same order.
struct DrawRow {
  std::vector<Nanos> starts;
  std::vector<Nanos> ends;
  std::vector<trace::Category> categories;
  // Per block of kBlock spans the start of its first.
  static constexpr std::size_t kBlock = 64;
  std::vector<Nanos> block_starts;
  // Per block of kTimesBlock spans the time of each category in all blocks before it, so that what
  // a fold of many spans consists of is two lookups.
  static constexpr std::size_t kTimesBlock = 256;
  std::vector<CategoryTimes> times;
  std::vector<FoldLevel> levels;
};

// Of a block of samples the time of its first, and its largest value.
struct Peak {
  Nanos time = 0;
  double value = 0;
};

struct Counter {
  std::vector<std::uint32_t> samples;  // positions in Trace::samples(), by time
  // Of blocks of kBlock samples, of kStep of those blocks, and so on: a pixel with thousands of
  // samples costs a few steps.
  static constexpr std::size_t kBlock = 8, kStep = 4;
  std::vector<std::vector<Peak>> peaks;
  double least = 0;  // 0 or below
  double most = 0;
};

struct DrawIndex {
  std::vector<std::vector<DrawRow>> rows;  // by LaneId and row
  std::vector<Counter> counters;           // by LaneId; without samples: no counter
  std::vector<bool> launches;              // by LaneId: of calls on it work of a GPU came
};

// The time of each category in `count` spans from `first` on. An instant counts as 1 ns.
CategoryTimes times_of(const DrawRow& row, std::size_t first, std::size_t count);

// Those spans as one bar. `spans` as in trace::Row.
Fold fold_of(const DrawRow& row, const std::vector<trace::SpanId>& spans, std::size_t first,
             std::size_t count);

DrawIndex build_draw_index(const trace::Trace& trace, const trace::TraceIndex& index);

// Where a timeline of the trace ends. A file's profiler marks its own recording as well, which may
// last long after the run.
inline Nanos end_of(const trace::Trace& trace, const trace::TraceIndex* index) {
  const bool imported = trace.origin().kind == trace::OriginKind::kImported;
  return imported && index && index->span_count > 0 ? index->end : trace.end();
}

}  // namespace trainscope::ui
