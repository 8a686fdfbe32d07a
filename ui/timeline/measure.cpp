#include "ui/timeline/measure.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace trainscope::ui {
namespace {

const LaneBox* lane_at(const TimelineLayout& layout, float y) {
  for (const LaneBox& lane : layout.lanes)
    if (y >= lane.y && y < lane.y + lane.height) return &lane;
  return nullptr;
}

// Of a lane with several rows, the row under the mouse is nearer than its neighbours.
float row_distance(const Bar& bar, float y) {
  return 2 * std::max({bar.y - y, y - (bar.y + bar.height), 0.0F});
}

// Spans of a row stand one after another, so the last of a fold ends last.
trace::SpanId last_of(const trace::TraceIndex& index, const Bar& bar) {
  return index.lanes[bar.lane].rows[bar.row].spans[bar.at + bar.count - 1];
}

}  // namespace

std::optional<Edge> nearest_edge(const trace::TraceIndex& index, const TimelineLayout& layout,
                                 float x, float y, float width) {
  const LaneBox* lane = lane_at(layout, y);
  if (!lane) return std::nullopt;
  // Where one span ends as the next begins, the one under the mouse is meant.
  constexpr float kOfOther = 3;  // px
  const Bar* under = bar_at(layout, x, y);
  const Bar* best = nullptr;
  bool at_end = false;
  float least = 0;
  for (const Bar& bar : layout.bars) {
    if (bar.lane != lane->lane) continue;
    for (const bool end : {false, true}) {
      const float edge = end ? bar.x + bar.width : bar.x;
      if (edge < 0 || edge > width) continue;
      const float distance =
          std::abs(edge - x) + row_distance(bar, y) + (&bar == under ? 0 : kOfOther);
      if (best && distance >= least) continue;
      best = &bar;
      at_end = end;
      least = distance;
    }
  }
  if (!best) return std::nullopt;
  Edge edge;
  edge.lane = best->lane;
  edge.span = at_end ? last_of(index, *best) : best->span;
  edge.is_end = at_end;
  edge.time = at_end ? best->end : best->start;
  return edge;
}

void take_edge(Measure& measure, const Edge& edge) {
  if (!measure.from || measure.to) {
    measure.from = edge;
    measure.to.reset();
  } else {
    measure.to = edge;
  }
}

std::string difference_words(const Edge& from, const Edge& to) {
  const Nanos difference = to.time - from.time;
  return (difference < 0 ? "-" : "+") + format_nanos(static_cast<double>(std::abs(difference)));
}

std::string edge_words(const trace::Trace& trace, const Edge& edge) {
  const std::string name = edge.span < trace.spans().size()
                               ? short_name(bar_label(trace, trace.spans()[edge.span]))
                               : std::string("a span");
  return (edge.is_end ? "end of " : "start of ") + name;
}

}  // namespace trainscope::ui
