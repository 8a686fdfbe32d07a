// Who sends which chunk to whom, and in which order: a collective taken apart, as data.
//
// A ring cuts the buffer into a chunk a rank. An all-reduce is n - 1 steps in which each rank adds
// what it has to what came and sends it on, and n - 1 in which the sums go around (Patarasuk and
// Yuan, 2009; nccl: src/device/all_reduce.h). All-gather and reduce-scatter are one half of that
// each. A broadcast and a reduce go once along the ring, in slices that follow one another. A tree
// takes slices up to its root, which adds, and down again (machine/tree.h).
//
// What NCCL's channels carry side by side is one chunk here, and so are the loops that follow one
// another without a break. Ranks and GPUs have the same numbers; chunks and steps count from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/topology.h"
#include "program/program.h"
#include "sim/collectives/collective_model.h"

namespace trainscope::sim {

struct ChunkSend {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t chunk = 0;
  std::int32_t step = 0;  // sends of one step could all be at the same time
  bool reduces = false;   // the receiver adds it to its own; else it keeps it instead of its own
};

struct ChunkSchedule {
  int ranks = 1;
  int chunks = 1;
  int steps = 0;
  int hops = 0;                  // one after the other, of a chunk on its longest way
  int trees = 1;                 // that chunks take turns on
  std::vector<ChunkSend> sends;  // by step
};

// Whether a collective can be taken apart: NVLS is done within the switch.
bool has_schedule(Algorithm algorithm);

// Sends of a ring, or of a tree with so many slices. `slices` counts where chunks are slices:
// trees, broadcasts, reduces; a ring's all-reduce, all-gather and reduce-scatter have a chunk a
// rank. Throws InputError where the machine has fewer GPUs.
ChunkSchedule chunk_schedule(const machine::Topology& topology, Algorithm algorithm,
                             program::CollectiveKind kind, int ranks, int slices);

// The same of a ring that goes through the ranks in this order, on whatever machine.
ChunkSchedule ring_schedule(std::vector<int> order, program::CollectiveKind kind, int slices);

// Slices of a collective that is pipelined: so many that filling the pipeline adds 1 % at most to
// its bytes' time, or to its latency. NCCL's tuner counts no such time; what chunks of NCCL's sizes
// lose is in its table for trees. 1 where chunks are not slices.
int slices_of(const CollectivePlan& plan, program::CollectiveKind kind, std::int64_t bytes,
              int hops, int trees);

}  // namespace trainscope::sim
