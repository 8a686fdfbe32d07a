// The kind of each lane side by side, for loops over millions of spans.
#pragma once

#include <vector>

#include "trace/trace.h"

namespace trainscope::analysis {

inline std::vector<trace::LaneKind> lane_kinds(const trace::Trace& trace) {
  std::vector<trace::LaneKind> kinds;
  trace::for_each(trace.lanes(),
                  [&](const trace::Lane& lane, trace::LaneId) { kinds.push_back(lane.kind); });
  return kinds;
}

// A thread of the training process, or of one that loads for it.
inline bool is_on_host(trace::LaneKind kind) {
  return kind == trace::LaneKind::kHostThread || kind == trace::LaneKind::kLoader ||
         kind == trace::LaneKind::kPinThread;
}

}  // namespace trainscope::analysis
