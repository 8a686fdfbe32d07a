// The traces of one run's ranks, each written by a process of its own on a clock of its own, as one
// trace.
#pragma once

#include <memory>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// How much later than the first trace's clock each one's is, in nanoseconds; 0 for the first. No
// rank comes out of an all-reduce, all-gather or reduce-scatter before the last has come in, and
// all come out nearly at once: the median over all of them of how far a rank's end is from the
// first's. 0 for a trace that has none in common with the first.
std::vector<Nanos> clock_offsets(const std::vector<const Trace*>& ranks);

// All of them on the clock of the first, by rank; time 0 is the first's. Lanes on which nothing
// happens are only kept of the first. Of a collective, a rank's span from its own beginning to the
// last rank's becomes a wait for that one. The origin is the first's.
std::unique_ptr<Trace> merge_ranks(const std::vector<const Trace*>& ranks);

}  // namespace trainscope::trace
