// The second half of reading a Chrome trace: what was collected event by event becomes a trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trace/chrome_collect.h"

namespace trainscope::trace::chrome {

// Lanes in the order of display, times from the trace's own start, arrows joined, causes and phases
// found, losses counted. `subject` is the file's name for its badge.
std::unique_ptr<Trace> assemble(Collected collected, const FileHeader& header,
                                const std::string& subject);

// The steps of it, in their order.

// Leaves out the few spans and samples, if any, that are hours away from all others; counts them.
void drop_strays(Collected& collected);

// Joins loose ends to the spans that enclose them.
void place_loose_ends(Collected& collected);

// Gives device work its launch, and kernels the phase of the host spans around their launch.
void find_causes(Collected& collected);
// Copies of pageable memory hold the call that asked for them: call after find_causes.
void find_staged_calls(Collected& collected);
void find_phases(Collected& collected);

// Pairs of starts and ends in the order of the file, or in their own order in our own files; counts
// what has no counterpart.
std::vector<Flow> join_flows(Collected& collected);

// The lanes that hold anything, in order of display, and for each draft its place among them.
struct Lanes {
  std::vector<Lane> lanes;
  std::vector<LaneId> place;  // by draft; kNone: left out
};
Lanes order_lanes(const Collected& collected, const FileHeader& header);

// Puts the spans of our own files back in the order of the trace that was written, and their
// causes. Returns for each span its new number.
std::vector<SpanId> restore_order(Collected& collected);

// The reason in words, and whether it stands for a complete event.
Dropped describe_loss(Loss loss, std::int64_t count);

}  // namespace trainscope::trace::chrome
