// Memory over time: the stack of roles, what is reserved, and the list of what the peak is made of.
#pragma once

#include <string>

#include "analysis/views/memory_history.h"
#include "analysis/views/memory_map.h"
#include "ui/app/window/shapes.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// How a role is drawn, by its name in the trace.
const CategoryStyle& role_style(const Theme& theme, const std::string& role);

struct MemoryChart {
  TimeRange range;
  // Every allocation and every free as wide as another: the host makes them in bursts, and waits.
  bool by_change = false;
  Nanos playhead = 0;
  double capacity = 0;  // for the allocator; 0: unknown
  double context = 0;   // that CUDA takes beside it
  double highest = 0;   // bytes that another chart beside it reaches, drawn to the same scale
};
// What the columns of a chart show; kept from one frame to the next while that is the same.
struct MemoryColumns {
  TimeRange range;
  bool by_change = false;
  std::vector<const analysis::MemoryHistory::Moment*> moments;
};

// Where the line of what is reserved is highest: the longest stretch of columns. Empty where
// nothing is reserved.
struct ReservedTop {
  double bytes = 0;
  std::size_t from = 0, to = 0;
};
ReservedTop reserved_top(const std::vector<const analysis::MemoryHistory::Moment*>& columns);

// Returns true, with `dragged`, while the mouse moves the playhead.
bool paint_memory_chart(const Theme& theme, const char* id, const Box& box,
                        const analysis::MemoryHistory& history, const MemoryChart& chart,
                        MemoryColumns& columns, Nanos& dragged);

// The roles that are there at the peak, or stand in columns of the chart, as they are stacked, from
// the top; by their numbers in the history.
std::vector<std::size_t> roles_drawn(const analysis::MemoryHistory& history,
                                     const MemoryColumns& columns);

// The roles that are drawn with their bytes at the peak, then the largest holders as far as there
// is room.
void paint_peak(const Theme& theme, const Box& box, const MemoryColumns& columns,
                const trace::Trace& trace, const analysis::MemoryHistory& history,
                const std::vector<analysis::MemoryBlock>& at_peak);

}  // namespace trainscope::ui
