// What is put away where not all lanes fit, so that the GPU's are in sight at once: rows of host
// threads become one, and lanes that tell less go behind a link in the side's strip; marks of
// streams and of further ranks, and what a profiler says of itself, first, copy engines that hardly
// copy and threads that launch work last. What a person unfolds or asks for stays, and what a path
// runs on as long as that is shown. Pure; heights are pixels.
#pragma once

#include <algorithm>
#include <vector>

#include "ui/timeline/layout.h"

namespace trainscope::ui {

struct Tuck {
  std::vector<trace::LaneId> in_one_row;
  std::vector<trace::LaneId> away;
  bool plain = false;  // without headings: lanes say whose they are
  bool is_away(trace::LaneId lane) const {
    return std::find(away.begin(), away.end(), lane) != away.end();
  }
  bool any() const { return plain || !in_one_row.empty() || !away.empty(); }
};

// What a person wants of the side.
struct TuckWish {
  std::vector<trace::LaneId> unfolded = {};  // in all their rows
  bool all_lanes = false;
  bool keeps_lanes = false;  // few were chosen already: none goes before these do not fit whole
  // What a lesson speaks of: it does not go. Of few chosen lanes all, what tells most first: the
  // last go, the first never.
  std::vector<trace::LaneId> told = {};
  std::vector<std::int32_t> ranks = {};  // to be seen, the first among them; empty: any
  // That a path runs on, which is shown, the one it is on longest first: in all their rows, where
  // there is room once the others are away. Else threads are folded, and the last go, then those
  // before them; the first stays.
  std::vector<trace::LaneId> path = {};
};

// The lanes of `request` at the least heights that they may have, in `room`: the streams and copy
// engines of the first GPU, and of the GPUs of the ranks to be seen, end within it where that can
// be had. The main thread and these GPUs' lanes never go; lanes of other ranks go first.
Tuck tuck(const trace::Trace& trace, const DrawIndex& draw, const LayoutRequest& request,
          const TuckWish& wish, float room);

}  // namespace trainscope::ui
