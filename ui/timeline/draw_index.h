// What drawing a trace needs beside its index: times and categories of each row side by side, so
// that a search through a million spans stays within the cache, and where each counter's samples
// are. Made once a trace, after its index; 17 bytes a span.
#pragma once

#include <vector>

#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::ui {

// One row of a lane: the spans of trace::Row, in the same order.
struct DrawRow {
  std::vector<Nanos> starts;
  std::vector<Nanos> ends;
  std::vector<trace::Category> categories;
};

struct Counter {
  std::vector<std::uint32_t> samples;  // positions in Trace::samples(), by time
  double least = 0;                    // 0 or below
  double most = 0;
};

struct DrawIndex {
  std::vector<std::vector<DrawRow>> rows;  // by LaneId and row
  std::vector<Counter> counters;           // by LaneId; without samples: no counter
};

DrawIndex build_draw_index(const trace::Trace& trace, const trace::TraceIndex& index);

}  // namespace trainscope::ui
