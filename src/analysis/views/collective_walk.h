// A run's collectives, chunk by chunk: what each rank holds at a time, with small made-up numbers
// that are really added in the order in which the algorithm adds them.
//
// The schedule is the simulator's own (sim/collectives/chunk_schedule.h). When each step is over
// follows from the chunks on the links where the trace has them; else steps are taken as equally
// long, as the closed form has them. Trees, broadcasts and reduces are pipelined in slices too many
// to show: they are shown with kShownSlices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/machine.h"
#include "sim/collectives/chunk_schedule.h"
#include "trace/trace.h"

namespace trainscope::analysis {

inline constexpr int kShownSlices = 4;

// The number that a rank begins with in a chunk: 1 to 9.
int first_number(int rank, int chunk);

// What a rank holds of a chunk.
struct ChunkCell {
  int number = 0;
  std::vector<int> of;  // the ranks whose numbers are in it, in the order of being added
  bool sent = false;    // it is on its way to another rank
  bool coming = false;  // something is on its way here: to be added, or to be kept instead
  bool whole = false;   // as it is in the end
};

struct ChunkTable {
  int steps_over = 0;
  int steps = 0;
  bool adds = false;                          // the step under way does
  std::vector<std::vector<ChunkCell>> cells;  // by rank and chunk
  std::vector<sim::ChunkSend> moves;          // of the step under way
};

// Once so many steps of a schedule are over, and the next is under way.
ChunkTable chunk_table(const sim::ChunkSchedule& schedule, int steps_over);

struct WalkedCollective {
  Nanos start = 0;  // once the last rank is there
  Nanos end = 0;
  int ranks = 1;
  std::int64_t bytes = 0;  // of a rank's larger buffer
  program::CollectiveKind kind = program::CollectiveKind::kAllReduce;
  std::string algorithm;     // "ring", "tree", "NVLS"; a ring where it is not told
  std::string protocol;      // "LL128"; empty: not told
  std::vector<Nanos> steps;  // when each was over; empty: not told
  trace::SpanId span = trace::kNone;
};

struct CollectiveWalk {
  std::vector<WalkedCollective> collectives;   // by time
  std::optional<sim::ChunkSchedule> schedule;  // of the first; none where a switch adds
  bool empty() const { return collectives.empty(); }
  // The last that has begun by then, else the first. Only where there is one.
  const WalkedCollective& at(Nanos time) const;
};

// The collectives of the first GPU that are like its first one. Empty where the trace has none, or
// `machine` fewer GPUs than they have ranks.
CollectiveWalk collective_walk(const trace::Trace& trace, const machine::Machine& machine);

struct WalkMoment {
  int steps_over = 0;
  double within = 0;  // the step under way, 0..1
  bool running = false;
};
WalkMoment moment_of(const WalkedCollective& collective, const sim::ChunkSchedule& schedule,
                     Nanos time);

// Bytes that each link of the schedule has carried once so many steps are over, of one way, and in
// all: the busiest link's.
struct LinkBytes {
  double sent = 0;
  double all = 0;
};
LinkBytes link_bytes(const sim::ChunkSchedule& schedule, std::int64_t bytes, int steps_over);

}  // namespace trainscope::analysis
