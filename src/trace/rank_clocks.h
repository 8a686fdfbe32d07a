// How far the clocks of one run's ranks are apart, each of which wrote a trace of its own.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// How much later than the first trace's clock each one's is, in nanoseconds; 0 for the first.
//
// No rank comes out of an all-reduce, all-gather or reduce-scatter before the last has come in, and
// all come out nearly at once: the median over all of them of how far a rank's end is from the
// first's, or from that of a rank whose clock is found in this way.
//
// Ranks that only send to each other, as those of a pipeline do, are laid on one another by that: a
// receive does not end before its send begins. Of messages both ways that leaves a span of time: as
// long as the quickest one takes there and the quickest one back, without the waits for whoever
// comes last. Its middle is taken, as NTP does (RFC 5905, section 8: half of what there and back
// differ, at most half of their sum in error), or what the recorders' clocks say where that lies
// within.
//
// Of a trace that has neither in common with these, the recorders' clocks decide where both are
// known and lie within an hour; else 0.
struct ClockOffsets {
  std::vector<Nanos> later;
  std::vector<int> unjoined;  // places of the traces that have nothing in common
  bool by_ends = false;       // some are laid by the ends of collectives,
  bool by_messages = false;   // and some by what is sent,
  Nanos uncertain = 0;        // which is at most so far off
};
ClockOffsets clock_offsets(const std::vector<const Trace*>& ranks, int world = 0);

// "their clocks laid on one another by the ends of collectives"; empty where none is.
std::string clock_words(const ClockOffsets& offsets);

}  // namespace trainscope::trace
