// The timeline on screen: one trace, or two (A and B) under one axis. It draws, moves its own
// TimelineState, and returns what the person did; it computes no metric.
//
// Times here are those of the shared axis: a side's own times plus its offset.
#pragma once

#include <imgui.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/app/window/theme.h"
#include "ui/timeline/lane_filter.h"
#include "ui/timeline/layout.h"
#include "ui/timeline/measure.h"
#include "ui/timeline/minimap.h"
#include "ui/timeline/notes.h"
#include "ui/timeline/refs.h"

namespace trainscope::ui {

// A learner's prediction on the result: a dashed bracket over a range of a lane (no lane: of the
// whole side), or a dashed line where start == end.
struct Guess {
  trace::LaneId lane = trace::kNone;
  Nanos start = 0;
  Nanos end = 0;
  std::string label = "your guess";
  std::optional<bool> right;  // green or red; nothing: it is not told, or not decided
};

// A vertical line at a time of a side, with one or two lines of text: "B done", "7.9 ms sooner".
struct Marker {
  Nanos time = 0;
  std::string title;
  std::string text;
  bool bad = false;  // red instead of green
};

struct TimelineSide {
  const trace::Trace* trace = nullptr;       // none: nothing has been run yet
  const trace::TraceIndex* index = nullptr;  // of that trace; none: still being made
  const DrawIndex* draw = nullptr;           // build_draw_index() of both
  Nanos offset = 0;                          // added to the trace's times
  std::string title;                         // beside the mark: "pageable"
  std::string config;                        // monospaced: "loader.pin_memory=False"
  std::string badge;                         // "SIMULATED": where its numbers come from
  trace::OriginKind origin = trace::OriginKind::kSimulated;  // that says so
  std::string machine, machine_short;                        // "1 x H200, PCIe 5.0 x16", "1 x H200"
  std::string detail;                                        // "pytorch-eager, timing only"
  std::string dropped, dropped_why;  // "12 dropped", and of the file's events which
  std::string total;                 // bold, to the right: "28.2 ms"
  std::vector<trace::LaneId> hidden;
  std::vector<trace::LaneId> pinned;  // they stand first and stay in sight
  bool keeps_lanes = false;           // few were chosen: none goes where not all fit
  std::vector<trace::LaneId> told;    // a lesson's: it does not go; of few, what tells most first
  std::vector<std::int32_t> ranks;    // of many the two that tell of their waits; empty: any
  std::size_t filtered = 0;           // of the hidden lanes, those that a person has hidden
  std::map<std::int32_t, Nanos> measured_from;  // by rank, the first step of which metrics tell
  const Matches* matches = nullptr;     // of a search or a path: the others are dimmed; none: all
  const Chain* chain = nullptr;         // a path: what is beside it is dimmed; none: none is shown
  std::vector<std::string> lane_names;  // shown while there is no trace
  std::vector<IdleGap> gaps;
  std::vector<Guess> guesses;
  std::vector<Marker> markers;
  std::vector<LaneNote> notes;       // in any order
  std::vector<CounterLimit> limits;  // of its machine
  bool takes_notes = false;          // its run is there: one can write on it
  std::optional<Nanos> playhead;     // the side's own line, where the sides are not aligned by time
  std::uint16_t lit_line = 0;        // spans of this line of the listing are lit; 0: none
  std::string progress;              // while a run is going on: "running: step 3 of 5"
  float progress_share = -1;         // 0..1; negative: unknown
};

struct TimelineInput {
  std::vector<TimelineSide> sides;  // one (fills the height) or two
  Nanos axis_end = 0;               // the whole axis; 0: the end of the longest side
  std::optional<Nanos> playhead;
  std::string playhead_text;  // "A: step 2, staging   B: step 3, copy"
  std::string empty_text;     // in the middle of lanes before a run
  bool movable = false;       // B may be dragged along the axis by its strip
  float full_height = 0;      // with what stands below it for a while; 0: its own height
};

// What the timeline remembers between frames. Plain: copy it, save it, set it.
struct TimelineState {
  TimeRange view;       // shown now; empty: fit at the first draw
  TimeRange target;     // where an animation is going
  TimeRange from;       // where it came from
  double progress = 1;  // of the animation, 0..1
  bool fitted = true;   // follow the axis when its length changes
  SpanRef selected;     // kNone: nothing
  SpanRef hovered;
  SpanRef reveal;                  // its lane is scrolled to in the next frame, and shows its row
  LaneRef reveal_lane;             // is scrolled to in the next frame
  std::optional<TimeRange> range;  // selected by shift-drag
  LaneRef range_lane;              // the lane on which that began
  Measure measure;
  std::vector<trace::LaneId> collapsed[2];
  std::vector<std::string> collapsed_groups[2];
  std::vector<trace::LaneId> unfolded[2];  // though there is little room
  bool all_lanes[2] = {};                  // are wanted, though they do not all fit
  LaneFilter filter;
  LaneRef lane;         // last under the mouse: what its menu is about
  Nanos menu_time = 0;  // on the axis: where that menu was asked for
  float scroll = 0;     // pixels
  enum class Drag : std::uint8_t {
    kNone,
    kPan,
    kRange,
    kPlayhead,
    kScroll,
    kOffset,
    kMinimap,
    kMore  // none: the link to more lanes was pressed
  } drag = Drag::kNone;
  Nanos drag_anchor = 0;
  float drag_distance = 0;
  SpanRef linked;            // the span whose links these are
  std::vector<Link> links;   // arrows of the selection
  bool show_minimap = true;  // where there is room for it
  Minimap minimap;
  float scroll_rate = 0;  // lanes' pixels for one of the scroll bar's, while it is dragged
};

struct TimelineEvents {
  std::optional<SpanRef> selected;  // clicked; span kNone: the selection was cleared
  std::optional<TimeRange> range;   // a range was selected (released)
  std::optional<Nanos> playhead;    // dragged on the axis
  std::optional<NoteRef> note;      // its flag was clicked
  std::optional<ImVec2> open_note;  // where the field of the one that is being written belongs
  bool write_note = false;          // asked for in a lane's menu
  Nanos moved = 0;                  // B was dragged by this much along the axis
  bool animating = false;           // wants another frame at once
  bool has_keys = false;            // what is typed is for it
};

// Fills `size` (0: the rest of the region).
TimelineEvents draw_timeline(const char* id, const Theme& theme, const TimelineInput& input,
                             TimelineState& state, ImVec2 size = {0, 0});

// What keys, menus and lessons do. They begin an animation from wherever the last one was going.
void fit(TimelineState& state, TimeRange axis);
// What is shown once an animation has ended.
const TimeRange& destination(const TimelineState& state);
void zoom(TimelineState& state, double factor, Nanos anchor);  // below 1: closer
void pan(TimelineState& state, double views);                  // in widths of the view
void show_range(TimelineState& state, TimeRange range, double margin = 0.15);
// Moves no further than needed for the range to be seen, and zooms only where it is far too short.
void bring_into_view(TimelineState& state, TimeRange range);
// All there is to see: from 0 to input.axis_end, or to the end of the longest side.
TimeRange axis_range(const TimelineInput& input);

// The rows of the hover card of a span, in words: "start", "1.20 ms".
std::vector<std::pair<std::string, std::string>> describe_span(const trace::Trace& trace,
                                                               trace::SpanId span);

}  // namespace trainscope::ui
