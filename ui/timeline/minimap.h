// The whole run in little, below the lanes: every lane a line, the range that is shown a window
// that can be dragged. The layout is pure; it is made anew only where a run, the lanes shown or the
// room changes.
#pragma once

#include <vector>

#include "ui/timeline/layout.h"
#include "ui/timeline/refs.h"

namespace trainscope::ui {

struct TimelineInput;

// The layouts of both sides, and what they were made from.
struct Minimap {
  struct Source {
    const trace::TraceIndex* index = nullptr;
    Nanos offset = 0;
    std::vector<trace::LaneId> hidden;
    TimeRange axis;
    float width = 0, height = 0;
    bool operator==(const Source&) const = default;
  };
  std::vector<Source> sources;        // by side
  std::vector<TimelineLayout> sides;  // x = 0 is the axis' start; a lane is drawn in one row
};

// Each side gets `height` pixels. Lanes without spans, steps and counters are left out.
void refresh(Minimap& minimap, const TimelineInput& input, TimeRange axis, float width,
             float height);

}  // namespace trainscope::ui
