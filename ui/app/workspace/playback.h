// The playhead, and how B's times stand to A's: by time, moved by an offset, or step by step.
#pragma once

#include <optional>

#include "base/time.h"

namespace trainscope::ui {

class Workspace;

struct Playhead {
  Nanos time = 0;        // of A, and of B where they are aligned by time
  bool by_step = false;  // B stands where it is as far in the same step
  bool playing = false;
  double seconds = 20;  // for the visible range
  Nanos offset = 0;     // how much later B stands on the shared axis; A never moves: set_offset()
};

// How much later B stands on the shared axis than its own times say, and no further than that the
// runs still touch.
void set_offset(Workspace& workspace, Nanos offset);

// Both sides have steps to be aligned by.
bool can_align_steps(const Workspace& workspace);

// The playhead's time on a side, with A and B aligned as they are.
Nanos playhead_of(const Workspace& workspace, std::size_t side);
// The playhead's time when a side is at this one.
Nanos playhead_at(const Workspace& workspace, std::size_t side, Nanos time);
// How far it goes: the end of A where B follows by step.
Nanos playhead_end(const Workspace& workspace);
// The end of the longer run shown, on the shared axis.
Nanos end_of_sides(const Workspace& workspace);

// Where playing pauses: at the span that the lesson's step points at, where the step wants that.
std::optional<Nanos> pause_time(const Workspace& workspace);

}  // namespace trainscope::ui
