// What drawing a trace needs beside its index: times and categories of each row side by side, so
// that a search through a million spans stays within the cache, and where each counter's samples
// are. Made once a trace, after its index; about 20 bytes a span.
#pragma once

#include <array>
#include <vector>

#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::ui {

using CategoryTimes = std::array<Nanos, trace::kCategoryCount>;

// One row of a lane: the spans of trace::Row, in the same order.
struct DrawRow {
  std::vector<Nanos> starts;
  std::vector<Nanos> ends;
  std::vector<trace::Category> categories;
  // Per block of kBlock spans the time of each category in all blocks before it, so that what a
  // fold of many spans consists of is two lookups.
  static constexpr std::size_t kBlock = 64;
  std::vector<CategoryTimes> times;
  std::vector<Nanos> block_starts;  // of the first span of each block
};

struct Counter {
  std::vector<std::uint32_t> samples;  // positions in Trace::samples(), by time
  // Of each block of kBlock samples the time of its first and its largest value, so that a pixel
  // with thousands of samples costs a few steps.
  static constexpr std::size_t kBlock = 32;
  std::vector<Nanos> times;
  std::vector<double> peaks;
  std::vector<double> high_peaks;  // of each kBlock of those blocks
  double least = 0;                // 0 or below
  double most = 0;
};

struct DrawIndex {
  std::vector<std::vector<DrawRow>> rows;  // by LaneId and row
  std::vector<Counter> counters;           // by LaneId; without samples: no counter
};

// The time of each category in `count` spans from `first` on: exact for up to a thousand or so, of
// more those of all blocks that lie within. An instant counts as 1 ns.
CategoryTimes times_of(const DrawRow& row, std::size_t first, std::size_t count);

// How much of a fold's busy time is of one category, 0..1.
struct CategoryShare {
  trace::Category category = trace::Category::kOther;
  float share = 0;
};

// The categories that take most of that time, largest first.
std::array<CategoryShare, 3> mixture_of(const DrawRow& row, std::size_t first, std::size_t count);

DrawIndex build_draw_index(const trace::Trace& trace, const trace::TraceIndex& index);

}  // namespace trainscope::ui
