// What the parts of the timeline's view share: where everything stands on the screen in this frame.
#pragma once

#include "ui/app/window/shapes.h"
#include "ui/timeline/tuck.h"
#include "ui/timeline/view.h"

namespace trainscope::ui {

// Words of a guess or a marker, where they stand: on one line in the side's strip, or beside the
// marker's line.
struct MarkWords {
  std::string words;  // in the strip
  Box box;
  bool in_strip = false;
};

// One side's place, in screen pixels.
struct SideView {
  const TimelineSide* side = nullptr;
  Side which = Side::kA;
  float strip = 0;       // top of its header strip
  float window = 0;      // top of what is in sight of its lanes
  float window_end = 0;  // and its bottom
  float below = 0;       // height of the row under that, about the lanes below; 0: there is none
  float top = 0;         // of its lanes, scrolled
  float bottom = 0;
  TimelineLayout layout;
  std::vector<NoteFlag> flags;
  std::vector<Box> taken;  // by the words of markers and notes: others give way
  // By position among the side's; none: out of sight, or no room.
  std::vector<std::optional<MarkWords>> guess_words, marker_words;
  float marks_left = 1e9F;  // of the first of them in the strip: the config ends before
  const Tuck* tuck = nullptr;
  bool all_lanes = false;  // though they do not all fit

  bool scrolls() const { return bottom - top > window_end - window + 1.5F; }
  bool in_sight(float from, float to) const { return to > window && from < window_end; }
  // Of what scrolls: below the lanes that are pinned.
  float scrolled_top() const {
    const float pinned = layout.pinned_bottom > layout.pinned_top ? top + layout.pinned_bottom : 0;
    return pinned > window ? pinned : window;
  }
  float shown_end() const { return bottom < window_end ? bottom : window_end; }
};

struct Canvas {
  const Theme* theme = nullptr;
  ImDrawList* draw = nullptr;
  const TimelineInput* input = nullptr;
  Box all;      // the widget, without the minimap
  Box axis;     // its strip at the top
  Box body;     // what is below
  Box lanes;    // the body's part that shows time
  Box minimap;  // below; empty: there is none
  TimeRange view;
  TimeRange whole;  // that the minimap shows
  std::vector<Tick> ticks;
  std::vector<Tuck> tucks;  // by side
  std::vector<SideView> sides;

  double pixels_per_nano() const {
    return lanes.width() / static_cast<double>(view.end - view.start);
  }
  float x(Nanos time) const {
    return lanes.min.x +
           static_cast<float>(static_cast<double>(time - view.start) * pixels_per_nano());
  }
  Nanos time(float at) const {
    return view.start +
           static_cast<Nanos>(static_cast<double>(at - lanes.min.x) / pixels_per_nano());
  }
};

// stack.cpp: what goes away where not all lanes fit into `room` pixels below the axis; by side, all
// empty where they do.
std::vector<Tuck> tucks_for(const Theme& theme, const TimelineInput& input,
                            const TimelineState& state, float room);
// Whether every lane fits, if each is as low as it may be.
bool lanes_fit(const Theme& theme, const TimelineInput& input, const TimelineState& state,
               float room);
// Stacks the sides from the top. Both scroll together, each as far as it has lanes.
void place_sides(Canvas& canvas, TimelineState& state);
bool is_ready(const TimelineSide& side);
// Whether a path that is shown runs on the lane, or on one under the heading.
bool is_on_path(const TimelineSide& side, trace::LaneId lane);
bool is_on_path(const TimelineSide& side, const std::string& group);
// The height of the row that says how many lanes are below, in what a side has for its lanes, where
// so much of them does not fit; 0 where all do, and where there is hardly room for lanes.
float below_row(const Theme& theme, float room, float below);
inline std::size_t number(Side side) {
  return static_cast<std::size_t>(side);
}

// input.cpp
bool inside(const Box& box, ImVec2 point);
Box scroll_bar(const Canvas& canvas, const SideView& view);
// What moves the view, before anything is laid out.
void take_input(const Canvas& canvas, TimelineState& state, TimelineEvents& events);
// What needs to know what is under the mouse.
void take_hits(const Canvas& canvas, TimelineState& state, TimelineEvents& events);

// minimap.cpp
void paint_minimap(const Canvas& canvas, Minimap& minimap);
Box minimap_view(const Canvas& canvas);  // the window in it

// lane_menu.cpp: which lane is under the mouse, and what can be done with it.
void note_lane(const Canvas& canvas, TimelineState& state);
void lane_menu(const Canvas& canvas, TimelineState& state, TimelineEvents& events, bool asked);

// view_state.cpp
// All of the axis with the margin that fit() leaves.
TimeRange fitting_range(TimeRange axis);
void move_at_once(TimelineState& state, Nanos shift);
void keep_in_reach(TimeRange& range, TimeRange axis);
// Moves the view on; true while it moves.
bool advance_view(TimelineState& state, TimeRange axis, double seconds);

// paint_lanes.cpp: lanes, headings, grid, bars, gaps, counters, arrows of one side.
void paint_side(const Canvas& canvas, const SideView& view, const TimelineState& state);

// A lane's name in the column at the left, as much of it as there is room for.
struct LaneName {
  std::string words;
  float left = 0, size = 0;
};
LaneName lane_name(const Canvas& canvas, const SideView& view, const LaneBox& box);

// paint_counters.cpp: a counter's line, and what the height of its lane stands for.
void paint_curve(const Canvas& canvas, const SideView& view, const Curve& curve);
// Beside the lane's name, where that leaves no room for all of it how far the counter went alone;
// empty: there is none for that either.
std::string scale_beside_name(const Canvas& canvas, const SideView& view, const LaneBox& box);
// Around those words at the lane's right end; nothing where they stand beside its name.
std::optional<Box> scale_box(const Canvas& canvas, const SideView& view, const Curve& curve);

// paint_path.cpp: a path along bars and between them, and arrows from lane to lane.
void paint_stays(const Canvas& canvas, const TimelineSide& side, const Bar& bar, const Box& box);
void paint_rest(const Canvas& canvas, const SideView& view, const RestLine& rest);
void paint_arrow(const Canvas& canvas, const SideView& view, const Arrow& arrow);

// paint_beyond.cpp: what goes on past the edges of what is in sight.
// A wait without end fades out to the right, with an arrow.
void paint_endless(const Canvas& canvas, const Box& box, const CategoryStyle& style);
// Where lanes are cut at the bottom they fade out; below it is said how many there are.
void paint_lanes_below(const Canvas& canvas, const SideView& view);
// The bottom of what may be written in the column of names: above the words about lanes below.
float words_end(const Canvas& canvas, const SideView& view);

// Of a span's category where there is no room for a hatch; of a fold, its mixture.
Color solid_color(const Theme& theme, const Bar& bar);

// paint_measure.cpp: the ruler between two edges, and the edge under the mouse.
void paint_measure(const Canvas& canvas, const Measure& measure);

// paint_strip.cpp: the line above a side's lanes.
void paint_strip(const Canvas& canvas, const SideView& view);
// The link in a strip to the lanes that are away, or back; empty: all lanes fit.
std::string more_words(const SideView& view);
Box more_box(const Canvas& canvas, const SideView& view);
// Around the words that events were dropped; empty: they are not there.
Box dropped_box(const Canvas& canvas, const SideView& view);
float strip_config_start(const Canvas& canvas, const SideView& view);
float label_width(const Canvas& canvas, std::string_view words);
// Between what stands in a strip on its left and on its right.
struct StripGap {
  float left = 0;
  float right = 0;
};
StripGap strip_gap(const Canvas& canvas, const SideView& view);

// paint_marks.cpp: guesses and markers.
void paint_guesses(const Canvas& canvas, const SideView& view);
void paint_markers(const Canvas& canvas, const SideView& view);
std::string strip_words(const Marker& marker);
// Its words would hide something beside its line.
bool wants_strip(const Canvas& canvas, const SideView& view, const Marker& marker);
void take_places(Canvas& canvas);  // of words that others give way to

// paint_overlays.cpp: the measured range, the playhead, the axis, and what stands in empty lanes.
void paint_range(const Canvas& canvas, const TimeRange& range);
void paint_range_length(const Canvas& canvas, const TimeRange& range);
void paint_playhead(const Canvas& canvas);
void paint_axis(const Canvas& canvas, const std::optional<TimeRange>& range);
void paint_empty(const Canvas& canvas, const SideView& view);

// paint_notes.cpp: flags on lanes, what is said of one beside the mouse, and where the flag of the
// one that is being written would stand.
FlagSizes flag_sizes(const Theme& theme);
Box flag_box(const Canvas& canvas, const SideView& view, const NoteFlag& flag);
void paint_notes(const Canvas& canvas, const SideView& view);
void note_card(const Theme& theme, const TimelineSide& side, const LaneNote& note);
std::optional<Box> open_note(const Canvas& canvas);

// hover.cpp: the card beside the mouse, of a bar, of the link to more lanes and of what was
// dropped.
void more_card(const Theme& theme, const SideView& view);
void dropped_card(const Theme& theme, const TimelineSide& side);
void hover_card(const Theme& theme, const TimelineSide& side, const Bar& bar, const Box& at);
// A card about what is in the box: below it, or above where there is more room, at the mouse.
void place_beside(const Theme& theme, const Box& about);

}  // namespace trainscope::ui
