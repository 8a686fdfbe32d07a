// Spans too short to be seen apart are drawn as one bar: a fold. Time is cut into cells of a power
// of two nanoseconds, and a fold holds the short spans that start in one; so a fold stays the same
// while one pans, and becomes two or fewer where one zooms in. Of rows with many spans the folds of
// every zoom are made once, with the index.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace trainscope::ui {

using CategoryTimes = std::array<Nanos, trace::kCategoryCount>;

// How much of a fold's busy time is of one category.
struct CategoryShare {
  trace::Category category = trace::Category::kOther;
  std::uint8_t parts = 0;  // of 255
};
using Mixture = std::array<CategoryShare, 3>;  // largest first; what is left is others

struct DrawRow;

// Spans side by side in a row, drawn as one bar; a single one is itself.
struct Fold {
  Nanos start = 0;
  Nanos end = 0;
  std::uint32_t first = 0;  // position in the row
  std::uint32_t count = 0;
  trace::SpanId span = trace::kNone;  // the first
  Mixture mixture{};
  std::uint8_t busy = 255;  // of 255: how much of its time is not gaps between its spans
};

// The spans [first, first + count) of a row, of which each category takes that time.
Fold make_fold(const DrawRow& row, const std::vector<trace::SpanId>& spans, std::size_t first,
               std::size_t count, const CategoryTimes& times);

// The cell in which a time lies begins here. `cell` is a power of two.
inline Nanos cell_start(Nanos time, Nanos cell) {
  return time & -cell;
}

// All folds of a row where cells are this long, by time. Spans that are in none are as long as a
// cell or longer.
struct FoldLevel {
  Nanos cell = 1;
  std::vector<Fold> folds;
};

// The levels of a row, shortest cells first; each has cells twice as long as the one before it, and
// the first no more folds than one for kSpansAFold spans. Of short rows none: they are cut when
// they are drawn. About a byte a span.
inline constexpr std::size_t kSpansAFold = 64;
std::vector<FoldLevel> fold_levels(const DrawRow& row, const std::vector<trace::SpanId>& spans);

}  // namespace trainscope::ui
