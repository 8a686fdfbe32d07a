// A lesson in front of a room: hands are counted for each option of a question, and what there is
// to see comes one after another. Space reveals the next: the room's answer, the run, lane after
// lane, what became of the predictions, the span that is asked for, cause after cause of the
// difference, the next step.
//
// Pure; the panels draw it, the actions drive it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "scenario/lesson.h"
#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::ui {

class Workspace;

struct Present {
  static constexpr std::size_t kLanes = 3;  // of each side, at most
  static constexpr int kOptions = 4;        // that have a key

  bool on = false;
  std::map<std::size_t, std::vector<int>> hands;  // by step of the lesson, then option
  std::size_t lanes = 1;                          // of each side that are shown
  bool verdict = false;                           // on the predictions is shown
  std::size_t causes = 0;                         // of the difference that are shown

  // Everything but whether it is on, as at a lesson's start.
  void begin_again() {
    const bool was_on = on;
    *this = {};
    on = was_on;
  }
  void reveal_all();
  // Hands for the option, of those on a step; 0: none.
  int hands_for(std::size_t step, std::size_t option) const;
  int most_hands(std::size_t step) const;
};

// The spans that a lesson points at or asks for, step by step.
std::vector<const scenario::Focus*> focuses_of(const scenario::Lesson& lesson);

// What is revealed at once: a lane of each side, of one kind where both have it; kNone where a side
// has none left.
using RoomLanes = std::array<trace::LaneId, 2>;
struct RoomSide {
  const trace::Trace* trace = nullptr;  // null: there is no such side
  const trace::TraceIndex* index = nullptr;
  std::vector<std::int32_t> ranks{};  // whose lanes a room sees; empty: everybody's
};
using RoomSides = std::array<RoomSide, 2>;

// What a room sees in the order in which it is revealed: lanes that the lesson points at before
// those that its texts name (*stream 7*) and these before others, the copy engine beside staging,
// what both sides have before what one has, in the order of the trace; three at most.
std::vector<RoomLanes> lanes_for_a_room(const RoomSides& sides, const scenario::Lesson& lesson);
// The same of what the workspace shows.
std::vector<RoomLanes> lanes_for_a_room(const Workspace& workspace);

// The run has decided predictions, and the room that made them looks at lanes before it hears how.
bool owes_verdict(const Workspace& workspace);

// What Space does next. kHands: hands are to be counted before. kAnswer: of a number or of words
// what was typed counts, or nothing. kSpan: the one that is asked for; the application shows it.
enum class Reveal : std::uint8_t {
  kNothing,
  kHands,
  kAnswer,
  kRun,
  kLane,
  kVerdict,
  kSpan,
  kCause,
  kStep
};
Reveal next_reveal(const Workspace& workspace);
// Does it; with kHands it says so.
void reveal_next(Workspace& workspace);

// A choice is open whose option, from 0, has a key.
bool can_take_option(const Workspace& workspace, int option);
// Chooses it; in front of a room a hand is counted for it.
void take_option(Workspace& workspace, int option);
void clear_hands(Workspace& workspace);

}  // namespace trainscope::ui
