// The traces of one run's ranks, each written by a process of its own, as one trace.
#pragma once

#include <memory>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// What is known of the ranks whose traces are merged.
struct Merging {
  std::vector<int> ranks;    // of each trace; empty: 0, 1, ...
  std::vector<int> further;  // how many GPUs further each one's devices are numbered; empty: none
  int world = 0;             // of the run, ranks whose trace is missing too; 0: as many as traces
  // They are parts of one trace (see part_of_rank): on one clock, their waits in them.
  bool parts = false;
};

// All of them on the clock of the first (rank_clocks.h), by rank; time 0 is the first's. Lanes on
// which nothing happens are only kept of the first, and of parts. Of a collective that
// is joined (same_collectives.h), a rank's span from its own beginning to the last rank's becomes a
// wait for that one. The origin is the first's, with what the others' say beside it.
std::unique_ptr<Trace> merge_ranks(const std::vector<const Trace*>& ranks,
                                   const Merging& merging = {});

}  // namespace trainscope::trace
