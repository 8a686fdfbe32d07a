// The bars that a timeline draws: the spans of a trace, row by row, with short neighbours folded
// into one bar so that there is a bounded number of them. Every span is in exactly one bar, but for
// marks of steps that only repeat those of another rank: they are in none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::report {

struct Bar {
  Nanos start = 0;
  Nanos end = 0;
  Nanos busy = 0;  // the spans' own time
  trace::SpanId first = trace::kNone;
  std::uint32_t count = 1;                             // spans
  trace::Category category = trace::Category::kOther;  // the one that takes most of the time
};

// A wait that goes on after the trace's end, alone in its bar.
bool is_endless(const trace::Trace& trace, const Bar& bar);

// Bars of a row do not overlap and stand by time.
using BarRow = std::vector<Bar>;

struct LaneBars {
  trace::LaneId lane = 0;
  std::vector<BarRow> rows;
  std::size_t rows_merged = 0;  // rows that were too many, folded into the last one
};

struct Bars {
  std::vector<LaneBars> lanes;  // those that have spans or samples, by lane
  std::size_t count = 0;
  Nanos cell = 0;  // neighbours shorter than this that begin in one cell are folded; 0: none are
};

// A lane has at most `most_rows` rows.
Bars fold(const trace::Trace& trace, const trace::TraceIndex& index, Nanos cell,
          std::size_t most_rows);

// With the finest cell that gives at most `most_bars`, where folding can do that.
Bars fold_to(const trace::Trace& trace, const trace::TraceIndex& index, std::size_t most_bars,
             std::size_t most_rows);

}  // namespace trainscope::report
