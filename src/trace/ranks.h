// The ranks of a trace, and one rank's part of it.
#pragma once

#include <memory>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// The ranks of a trace's lanes, in order.
std::vector<int> ranks_of(const Trace& trace);

// The devices of its lanes, likewise.
std::vector<int> devices_of(const Trace& trace);

// One rank's part: its lanes and what is on them, and the marks of steps, which one rank's lane may
// bear for all. Times stay as they are; what joins it with other ranks is left out.
//
// A trace whose one rank stands for others that do the same at the same time: all of it, as that of
// `rank` on the GPU of that number. Of one process that drives several GPUs, GPU `rank` and the
// process.
std::unique_ptr<Trace> part_of_rank(const Trace& trace, int rank);

}  // namespace trainscope::trace
