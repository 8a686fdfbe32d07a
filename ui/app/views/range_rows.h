// What both sides did within a selected range, lane by lane: A and B in one row where their lanes
// have one name. Pure: numbers come from analysis/steps/range_use.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/steps/range_use.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// One side's part of a row, in words.
struct RangeCell {
  double share = 0;   // of the range, 0..1
  std::string busy;   // "1.20 ms"
  std::string spans;  // "12"
  std::string bytes;  // "64 MiB"; empty: no copies
};

struct RangeRow {
  std::string lane;
  std::optional<RangeCell> cells[2];  // none: the side has no such lane, or hides it
};

// Lanes that are shown and have spans in the range on either side, in the order of the timelines.
// Marks of steps are left out: they are no work.
std::vector<RangeRow> range_rows(const TimelineInput& input, const TimeRange& range);

// "3.10 to 5.41 ms".
std::string range_words(const TimeRange& range);

}  // namespace trainscope::ui
