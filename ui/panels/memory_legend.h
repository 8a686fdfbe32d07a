// What the colours of a memory chart mean, where there is no room to list the peak beside it.
#pragma once

#include "ui/panels/memory_chart.h"

namespace trainscope::ui {

// Of the lines that the roles take in that width.
float memory_legend_height(const Theme& theme, float width, const analysis::MemoryHistory& history,
                           const MemoryColumns& columns);

void paint_memory_legend(const Theme& theme, const Box& box, const analysis::MemoryHistory& history,
                         const MemoryColumns& columns);

}  // namespace trainscope::ui
