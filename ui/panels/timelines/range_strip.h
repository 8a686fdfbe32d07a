// Below the timelines, while a range is selected: what each lane did in it.
#pragma once

#include <vector>

#include "ui/app/views/range_rows.h"
#include "ui/panels/window/context.h"

namespace trainscope::ui {

// Rows are worked out once for a range of a pair of traces.
struct RangeStrip {
  std::vector<RangeRow> rows;
  std::optional<TimeRange> range;
  const trace::TraceIndex* of[2] = {};
  std::vector<trace::LaneId> hidden[2];
};

// How much of `room` below the timelines it wants; 0: no range is selected, or no run is shown.
float range_strip_height(const PanelContext& context, RangeStrip& strip, const TimelineInput& input,
                         float room);

// Fills the width of the region with that height.
void draw_range_strip(const PanelContext& context, const RangeStrip& strip, float height);

}  // namespace trainscope::ui
