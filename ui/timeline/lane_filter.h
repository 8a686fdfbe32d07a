// Which lanes a person has pinned to the top or hidden. Lanes are known by heading and name, so
// that a rerun, and the other side, keep what was asked for. Pure.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::ui {

struct LaneFilter {
  std::vector<std::string> pinned, hidden;  // keys
};

std::string lane_key(const trace::Lane& lane);

// The lanes of a trace with these keys, in the trace's order.
std::vector<trace::LaneId> lanes_with(const trace::Trace& trace,
                                      const std::vector<std::string>& keys);

// Pins a lane, or lets it go again.
void toggle_pin(LaneFilter& filter, const trace::Lane& lane);
// Hides a lane; one that was pinned is pinned no more.
void hide(LaneFilter& filter, const trace::Lane& lane);
// Hides all lanes of the trace but this one and those that are pinned.
void hide_others(LaneFilter& filter, const trace::Trace& trace, const trace::Lane& lane);

}  // namespace trainscope::ui
