// What an all-reduce has done once a share of its time is over, as its algorithm says. A ring cuts
// the buffer into as many parts as there are ranks: in n - 1 steps each rank adds a part to what
// its neighbour sent and sends that on, in n - 1 more the sums go around (the reduce-scatter and
// the all-gather of Patarasuk and Yuan, 2009, which NCCL's ring carries out: nccl,
// src/device/all_reduce.h).
//
// The steps are taken as equally long, as the closed form of the time has them. Places are counted
// around the ring, parts and steps from 0.
#pragma once

namespace trainscope::analysis {

// Steps of a ring's all-reduce: 2 (n - 1).
int ring_steps(int ranks);

struct RingMoment {
  int step = 0;       // under way; the number of steps once all are over
  double within = 0;  // of it, 0..1
};
RingMoment ring_moment(int ranks, double share);

// Which part the rank at a place sends to the next place.
int part_sent(int ranks, int step, int place);

// Of how many ranks the part is the sum that a place holds once so many steps are over.
int ranks_summed(int ranks, int steps_over, int place, int part);

}  // namespace trainscope::analysis
