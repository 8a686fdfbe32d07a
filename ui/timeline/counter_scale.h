// What the full height of a lane of counters stands for: what can be reached where that is known (a
// GPU's SMs, 100 % of a link), else the most that either side reached. Pure.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"
#include "ui/timeline/draw_index.h"

namespace trainscope::ui {

// What the counters in lanes of this name can reach on a side's machine.
struct CounterLimit {
  std::string lane;
  double value = 0;
};

struct CounterTop {
  double value = 0;
  bool is_limit = false;  // no counter can go beyond; else only as far as one side went
};
using CounterTops = std::vector<CounterTop>;  // by LaneId

// The side for which tops are asked, or one to compare it with.
struct CounterSide {
  const trace::Trace& trace;
  const DrawIndex& draw;
  const std::vector<CounterLimit>& limits;
};

// Of each side. Counters are the same where their lanes have the same name; a limit is each side's
// own, so that a full lane is a full machine.
std::vector<CounterTops> counter_tops(const std::vector<CounterSide>& sides);

// Of a lane on its own.
CounterTop counter_top(const trace::Lane& lane, const Counter& counter);

// What a lane says of its scale: "132", "1 of 132", "1.2 GiB, scale to 3 GiB".
std::string counter_words(double most, const CounterTop& top);

}  // namespace trainscope::ui
