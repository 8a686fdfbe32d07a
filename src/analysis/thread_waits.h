// When a host thread waits for another one of its process, which works for it: the main thread in
// loss.backward() for autograd's.
#pragma once

#include <vector>

#include "analysis/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct ThreadWait {
  trace::LaneId lane = trace::kNone;  // the thread that waits
  Interval time;
};

// A simulated trace tells of them; of any other they are inferred as for a replay, see
// train/replay/host_tracks.h.
std::vector<ThreadWait> thread_waits(const trace::Trace& trace);

}  // namespace trainscope::analysis
