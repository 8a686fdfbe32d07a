// Measuring between two edges: the starts and ends of spans, on one lane, on two, or on A and B.
// Pure: what an edge is, and which one is near.
#pragma once

#include <optional>
#include <string>

#include "ui/timeline/layout.h"
#include "ui/timeline/refs.h"

namespace trainscope::ui {

// Where a span begins or ends.
struct Edge {
  Side side = Side::kA;
  trace::LaneId lane = trace::kNone;
  trace::SpanId span = trace::kNone;
  bool is_end = false;
  Nanos time = 0;  // on the shared axis
  friend bool operator==(const Edge&, const Edge&) = default;
};

// Two clicks measure; a third begins anew.
struct Measure {
  bool on = false;
  std::optional<Edge> from, to;  // clicked
  std::optional<Edge> near;      // under the mouse

  void forget() { from = to = near = std::nullopt; }
};

// The edge in sight that is nearest to a point of the layout, on the lane at that point. Its time
// is the trace's own. Nothing where there is no lane, or none of its spans begins or ends in sight.
std::optional<Edge> nearest_edge(const trace::TraceIndex& index, const TimelineLayout& layout,
                                 float x, float y, float width);

void take_edge(Measure& measure, const Edge& edge);

// What the ruler says, `to` minus `from`: "+2.31 ms".
std::string difference_words(const Edge& from, const Edge& to);
// "end of gemm".
std::string edge_words(const trace::Trace& trace, const Edge& edge);

}  // namespace trainscope::ui
