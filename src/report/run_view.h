// A run prepared for a page: its bars, and what had to be left out of them.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "report/bars.h"
#include "trace/index.h"

namespace trainscope::report {

// How much one page holds, of all its runs together. Beyond it things are folded or left out, and
// the page says so.
struct PageLimits {
  std::size_t bars = 200'000;
  std::size_t rows_a_lane = 24;
  std::size_t gaps = 4'000;  // the longest
  std::size_t samples_a_lane = 4'000;
  std::size_t columns = 1'200;  // of a kind of chart, of all runs: more moments share them
  std::size_t rows = 40;        // of a view's table, and points of the roofline, a run
};

struct RunView {
  const analysis::Run* run = nullptr;
  trace::TraceIndex index;
  Bars bars;
  std::vector<analysis::IdleGap> gaps;  // those that stand on a lane, longest first
  std::size_t gaps_left_out = 0;
  std::vector<std::vector<trace::Sample>> counters;  // by LaneId: finite samples, by time
  std::size_t samples_left_out = 0;
  std::vector<std::string> differing;  // knobs in effect in which it differs from another run
};

std::vector<RunView> view_runs(const std::vector<const analysis::Run*>& runs,
                               const PageLimits& limits);

// Complete runs say what they were configured with; imported ones do not know.
bool has_config(const analysis::Run& run);

}  // namespace trainscope::report
