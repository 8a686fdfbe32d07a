// Where things stand from top to bottom: lanes under their headings, rows in their lanes, counters.
// Parts of lay_out().
#pragma once

#include <optional>

#include "ui/timeline/layout.h"

namespace trainscope::ui {

// The vertical place of a row's bars.
struct Strip {
  float y = 0;
  float height = 0;
};
Strip strip_of(const LaneBox& box, std::size_t row);

// Null when the lane is hidden or its group is collapsed.
const LaneBox* lane_box(const TimelineLayout& layout, trace::LaneId lane);

// The row in which a span stands. O(rows · log spans).
std::optional<std::size_t> row_of(const trace::Trace& trace, const trace::LaneIndex& lane,
                                  trace::SpanId span);

Curve curve_of(const trace::Trace& trace, const Counter& counter, const LaneBox& box,
               const LayoutRequest& request);

// Of a path that goes to and fro in no time the arrows would lie on one another: they are set
// `room` apart, in their order; of many between two lanes but one each way keeps its head.
void part_arrows(std::vector<Arrow>& arrows, float room);

}  // namespace trainscope::ui
