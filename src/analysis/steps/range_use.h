// What the lanes of a trace did within a range of time: for how long each was busy, with how many
// spans, and how many bytes its copies moved.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/intervals.h"
#include "trace/index.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct LaneUse {
  trace::LaneId lane = 0;
  std::uint32_t spans = 0;  // that run within the range, or happen in it at once
  Nanos busy = 0;           // nanoseconds of the range in which at least one of them runs
  double bytes = 0;         // of its copies; one that is partly in the range counts by its share
};

struct RangeUse {
  Interval range;              // in the trace's own times
  std::vector<LaneUse> lanes;  // by LaneId; those that the index covers

  // The share of the range in which the lane is busy, 0..1; 0 for an empty range.
  double share(const LaneUse& use) const;
};

// O(rows · log spans + spans in the range · rows of their lane).
RangeUse use_within(const trace::Trace& trace, const trace::TraceIndex& index,
                    const Interval& range);

}  // namespace trainscope::analysis
