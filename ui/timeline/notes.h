// Where the notes on a trace's lanes stand: each is a range of time on a lane, and a flag with as
// much of its text as there is room for. Pure, in the layout's pixels.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/timeline/layout.h"

namespace trainscope::ui {

struct LaneNote {
  trace::LaneId lane = 0;
  Nanos start = 0;  // the trace's own time
  Nanos end = 0;
  std::string text;
  bool selected = false;
  bool open = false;  // being written: a field stands where its flag would
};

struct FlagSizes {
  float height = 16;
  float pad = 5;     // on both sides of the text
  float least = 10;  // of a flag that has no room for text
  float gap = 2;
  std::function<float(std::string_view)> text_width;
  std::function<std::string(std::string_view, float)> cut;  // the text, or what fits of it
};

struct NoteFlag {
  std::size_t note = 0;  // position in the list given
  float x = 0, y = 0, width = 0, height = 0;
  float from = 0, to = 0;  // its range, as far as it is in view
  float lane_top = 0, lane_bottom = 0;
  std::string shown;  // empty: there is no room
  bool pinned = false;
};

// "stream 7, 1.20 ms to 1.31 ms"
std::string note_place_words(const trace::Trace& trace, const LaneNote& note);

// Flags of notes whose lane is shown and whose range is in view. Those of one lane stand beside one
// another in the order of their starts, each at its range's start or, where others are in the way,
// as near to it as there is room.
std::vector<NoteFlag> note_flags(const TimelineLayout& layout, const std::vector<LaneNote>& notes,
                                 const LayoutRequest& request, const FlagSizes& sizes);

// The flag under a point, or null.
const NoteFlag* flag_at(const TimelineLayout& layout, const std::vector<NoteFlag>& flags, float x,
                        float y);

}  // namespace trainscope::ui
