// Notes that a person writes on a run: a line of text bound to a lane and a range of time. They are
// saved with the run.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

struct RunNote {
  trace::LaneId lane = 0;  // of the run's own trace
  Nanos start = 0;         // the trace's own time
  Nanos end = 0;           // not before the start; equal: a moment
  std::string text;        // UTF-8, never empty
  bool operator==(const RunNote&) const = default;
};

// Longer texts are no notes: bytes.
inline constexpr std::size_t kLongestNote = 2000;

// In the order in which they are walked: by start, then by end, lane and text.
void sort_notes(std::vector<RunNote>& notes);

// Throws InputError, without a file's name, for a note that no run can have: empty or longer than
// kLongestNote, or with a range that is none.
void check_note(const RunNote& note);

}  // namespace trainscope::analysis
