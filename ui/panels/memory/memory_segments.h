// The allocator's segments one after another in rows, to scale: blocks by role, holes hatched.
#pragma once

#include "analysis/views/memory_map.h"
#include "ui/app/window/shapes.h"

namespace trainscope::ui {

void paint_segments(const Theme& theme, const char* id, const Box& box, const trace::Trace& trace,
                    const std::vector<analysis::MemorySegment>& segments);

// How wide the ground between two neighbours is, from their own widths, in pixels: 0 beside such as
// it would cover.
float segment_gap(const Theme& theme, float before, float after);

}  // namespace trainscope::ui
