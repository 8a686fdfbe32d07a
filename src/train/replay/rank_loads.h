// What each rank of a recorded trace does, to tell why one is later than the others.
#pragma once

#include <memory>
#include <vector>

#include "program/config.h"
#include "trace/trace.h"

namespace trainscope::train {

// Times of all of the trace.
struct RankLoad {
  int rank = 0;
  Nanos kernels = 0;  // of its GPU, collectives aside
  Nanos copies = 0;   // between host and GPU
  Nanos host = 0;     // that its threads pass on their own: not waiting for the GPU or a batch
};

// By rank, of the replay of that config. Throws InputError where none can be.
std::vector<RankLoad> rank_loads(const program::Config& config,
                                 std::shared_ptr<const trace::Trace> trace);

// How many times as long a rank takes for a part as the middle one of the others does; 0 where
// they take no time for it, or it is alone.
double times_as_much(const std::vector<RankLoad>& loads, int rank, Nanos RankLoad::* part);

}  // namespace trainscope::train
