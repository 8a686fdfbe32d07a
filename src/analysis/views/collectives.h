// The collectives of the measured window: how long they took, what they moved, who waited.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/steps/measured.h"
#include "trace/collective_kind.h"

namespace trainscope::analysis {

struct CollectiveTimes {
  // Of those of which the trace tells what they moved, and of one GPU, since all take part: from
  // the call to the completion, or from when the work that it waited for was done.
  IntervalSet intervals;
  IntervalSet at_work;  // once the last rank was there: of all
  // Likewise without those of which the trace does not tell what they moved.
  double bytes = 0;       // of the buffers
  double bus_bytes = 0;   // times the traffic factor of each (nccl-tests: doc/PERFORMANCE.md)
  double wire_bytes = 0;  // of the GPU that sent most
  // Of that, what crosses to another node, for all GPUs of one: where several groups of them cross,
  // each sends as much as this GPU's.
  double network_bytes = 0;
  // The nanoseconds that links at their full rate would need for what the GPU sent, of collectives
  // of several nodes the network; and those that each of these was at work, added up.
  double on_links = 0;
  Nanos work_of_all = 0;
  // Whether the trace tells who waited. PyTorch's profiler has waiting within the collective.
  bool tells_waits = true;
  Nanos longest_wait = 0;  // for other ranks: of the GPU that waited most
  int stuck = 0;           // GPUs that wait for a rank that never comes
  int count = 0;           // of collectives
};
CollectiveTimes collective_times(const Measured& measured);

// Whose traffic a collective has. In an all-to-all a rank sends as many of its bytes as in an
// all-gather, all but its own part (nccl-tests: doc/PERFORMANCE.md).
program::CollectiveKind traffic_of(trace::CollectiveKind kind);

// How a collective is carried out; empty: not told.
struct CollectiveWay {
  std::string algorithm;  // "ring", "tree", "NVLS"
  std::string protocol;   // "LL", "LL128", "Simple"
};

// By its detail, else by its kernel's name: NCCL's own tells a tree and nothing else; those of
// Trainscope's earlier runs told both.
CollectiveWay way_of(const trace::Trace& trace, const trace::Span& span);

// Of the larger of what it takes and what it gives; at least 0. Of a type that is not known an
// element has 4.
std::int64_t bytes_of(const trace::CollectiveDetail& collective);

}  // namespace trainscope::analysis
