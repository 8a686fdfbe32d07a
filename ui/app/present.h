// A lesson in front of a room: hands are counted for each option of a question, and what there is
// to see comes one after another. Space reveals the next: the room's answer, the run, lane after
// lane, cause after cause of the difference, the next step.
//
// Pure; the panels draw it, the actions drive it.
#pragma once

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

// The lanes of a run that a room sees, those that the lesson points at before others, in the order
// of the trace: three at most.
std::vector<trace::LaneId> lanes_for_a_room(const trace::Trace& trace,
                                            const trace::TraceIndex& index,
                                            const scenario::Lesson& lesson);

// What Space does next. kHands: hands are to be counted before.
enum class Reveal : std::uint8_t { kNothing, kHands, kAnswer, kRun, kLane, kCause, kStep };
Reveal next_reveal(const Workspace& workspace);
// Does it; with kHands it says so.
void reveal_next(Workspace& workspace);

// A choice is open whose option, from 0, has a key.
bool can_take_option(const Workspace& workspace, int option);
// Chooses it; in front of a room a hand is counted for it.
void take_option(Workspace& workspace, int option);
void clear_hands(Workspace& workspace);

}  // namespace trainscope::ui
