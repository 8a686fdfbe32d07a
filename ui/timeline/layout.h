// The layout of one trace's timeline: trace and view range in, rectangles, labels, arrows and ticks
// out. Pure: it knows no ImGui and no colour, and is the same with and without a window.
//
// Lengths are pixels; x = 0 is the view's start, y = 0 the top of the first lane. Times are the
// trace's own. Cost: O(visible pixels · log spans), whatever the trace holds.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/index.h"
#include "trace/labels.h"
#include "trace/short_name.h"
#include "trace/trace.h"
#include "ui/timeline/counter_scale.h"
#include "ui/timeline/draw_index.h"
#include "ui/timeline/matches.h"

namespace trainscope::ui {

// Time during which a lane had nothing to do, and why ("idle 4.9 ms: the copy").
struct IdleGap {
  trace::LaneId lane = 0;
  Nanos start = 0;
  Nanos end = 0;
  std::string label;
  bool bad = false;  // it only communicated: drawn in red
};

// Two spans joined by a flow or a cause.
struct Link {
  trace::SpanId from = trace::kNone;
  trace::SpanId to = trace::kNone;
  bool is_cause = false;
  std::optional<Nanos> passed = std::nullopt;  // when; none: as the later one begins
  // Of a path's hop: when the earlier lane is left, and the lanes, where it may be on no span.
  std::optional<Nanos> left = std::nullopt;
  trace::LaneId from_lane = trace::kNone;
  trace::LaneId to_lane = trace::kNone;
};
// A chain through the trace, from its beginning to its end.
struct Chain {
  // When it is on a span; it may come back to one.
  struct Stay {
    trace::SpanId span = trace::kNone;
    Nanos start = 0;
    Nanos end = 0;
    auto operator<=>(const Stay&) const = default;
  };
  // When it is on a lane that has no span for it: a thread rests, a kernel waits for its turn.
  struct Rest {
    trace::LaneId lane = trace::kNone;
    Nanos start = 0;
    Nanos end = 0;
    auto operator<=>(const Rest&) const = default;
  };
  std::vector<Link> hops;            // by when they are passed, which is told of each
  std::vector<Stay> stays;           // by span, then time
  std::vector<Rest> rests;           // by time, no two at once
  std::vector<trace::LaneId> lanes;  // that it runs on, longest first
  // The stays on one span.
  std::span<const Stay> on(trace::SpanId span) const;
  bool runs_on(trace::LaneId lane) const;
};
// The flows and the cause of one span. O(flows): ask when the selection changes, not every frame.
std::vector<Link> links_of(const trace::Trace& trace, trace::SpanId span);

struct LayoutRequest {
  Nanos view_start = 0;
  Nanos view_end = 0;
  float width = 0;
  float lane_height = 38;  // of a lane of one row
  float row_height = 20;   // of each row of a lane of several
  float counter_height = 48;
  float group_height = 24;
  float min_bar = 3;      // narrower spans are folded; those of twice this and more never
  float min_label = 14;   // no text in bars narrower than this
  float label_pad = 5;    // on both sides of a label
  float visible_top = 0;  // lanes outside [top, bottom) get their place but no bars
  float visible_bottom = 1e9F;
  std::vector<trace::LaneId> hidden;          // not shown at all
  std::vector<trace::LaneId> pinned;          // shown first, under a heading of their own
  float stuck = 0;                            // how far down pinned lanes stand: what is scrolled
  std::size_t filtered = 0;                   // more than 0: a line below the lanes says so
  const CounterTops* counter_tops = nullptr;  // none: of each lane on its own
  // By rank: its marks of steps before it say that they warm up.
  std::map<std::int32_t, Nanos> measured_from;
  const Matches* matches = nullptr;           // bars without one of these are dimmed
  std::vector<trace::LaneId> collapsed;       // drawn in one row, what holds a thread over it
  std::vector<std::string> collapsed_groups;  // only the heading is drawn
  bool headings = true;                       // where there are several processes or GPUs
  std::vector<Link> links;                    // arrows to draw: links_of() the selected span
  std::span<const Chain::Rest> rests;         // lines to draw: of a path
  float arrow_room = 10;                      // between arrows of a path to and from a lane
  std::function<float(std::string_view)> text_width;  // of a label; none: no labels
};

struct GroupBox {
  std::string name;
  float y = 0;
  float height = 0;
  bool collapsed = false;
  std::size_t lanes = 0;
  bool pinned = false;
};

struct LaneBox {
  trace::LaneId lane = 0;
  float y = 0;
  float height = 0;
  float row_height = 0;
  std::size_t rows = 1;      // drawn
  std::size_t all_rows = 1;  // that it has
  bool collapsed = false;
  bool pinned = false;
};

// One span, or a fold of spans too short to be seen apart.
struct Bar {
  float x = 0, y = 0, width = 0, height = 0;
  trace::SpanId span = trace::kNone;  // of a fold: the first
  std::uint32_t count = 1;            // more than one: a fold
  trace::LaneId lane = 0;
  std::uint32_t row = 0;
  std::uint32_t at = 0;                                // position of `span` in its row
  trace::Category category = trace::Category::kOther;  // of a fold: which fills most of it
  bool hatched = false;
  bool pinned = false;
  bool found = false;    // by a search: it, or one of the fold
  bool dimmed = false;   // a search found others
  bool endless = false;  // goes on past the trace's end: to the right end of what is in view
  Nanos start = 0, end = 0;
  std::string label;   // what fits; often nothing
  Mixture mixture{};   // of a fold
  float presence = 1;  // 0..1, of a fold: less the longer the gaps in it
};

struct GapBox {
  float x = 0, y = 0, width = 0, height = 0;
  std::size_t gap = 0;  // position in the list given
  std::string label;
};

struct Arrow {
  float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  trace::SpanId from = trace::kNone;
  trace::SpanId to = trace::kNone;
  bool is_cause = false;  // what the selected span waited for; else a flow
  bool of_path = false;
  trace::LaneId from_lane = trace::kNone, to_lane = trace::kNone;  // of a path's
  float aside = 0;       // how far beside its time it stands, where another would lie on it
  bool passing = false;  // one of many to and fro: but a line, without a head
};

// Where a path rests on a lane: from x on, at the height of what is on its spans.
struct RestLine {
  float x = 0, y = 0, width = 0;
  trace::LaneId lane = 0;
};

// A counter's line: points (x, y), drawn as steps.
struct Curve {
  trace::LaneId lane = 0;
  float y = 0, height = 0;
  double least = 0, most = 0;  // of its samples
  CounterTop top;              // what the full height stands for
  std::vector<std::pair<float, float>> points;
};

struct TimelineLayout {
  std::vector<GroupBox> groups;
  std::vector<LaneBox> lanes;
  std::vector<Bar> bars;
  std::vector<GapBox> gaps;
  std::vector<Arrow> arrows;
  std::vector<RestLine> rests;
  std::vector<Curve> curves;
  float height = 0;                         // of all lanes, and of the line below them
  float pinned_top = 0, pinned_bottom = 0;  // of the pinned lanes; equal: there are none
  std::optional<float> footer;              // top of the line about hidden lanes
};

TimelineLayout lay_out(const trace::Trace& trace, const trace::TraceIndex& index,
                       const DrawIndex& draw, const LayoutRequest& request,
                       const std::vector<IdleGap>& gaps = {});

// Only the lanes' places: cheap, for scrolling and for how much room a trace wants.
TimelineLayout lay_out_lanes(const trace::Trace& trace, const DrawIndex& draw,
                             const LayoutRequest& request);

// The bar under a point, or null.
const Bar* bar_at(const TimelineLayout& layout, float x, float y);

// The axis: a label at each major tick, minor ticks between them.
struct Tick {
  float x = 0;
  Nanos time = 0;
  bool major = true;
  std::string label;  // of major ticks: "4 ms"
};
std::vector<Tick> axis_ticks(Nanos view_start, Nanos view_end, float width, float label_room);

using trace::bar_label;
using trace::brief_label;
using trace::short_name;

}  // namespace trainscope::ui
