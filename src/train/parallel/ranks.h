// Programs of single ranks, put together: each rank with threads, streams and memory of its own, on
// the GPU of its number. Ranks that do the same at the same time need none of this: one of them is
// simulated and stands for all.
#pragma once

#include <vector>

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// Whether a config makes the ranks, a process each, different from one another.
bool ranks_differ(const program::Config& config);

// Whether it does so to ranks that would do as much at the same time: one is slower than the
// others, or has a batch less.
bool ranks_are_uneven(const program::Config& config);

// One rank: its program, built as if it were rank 0, and how many times as long its kernels take.
// Ranks that point to the same program share its operations. Each marks its steps; what else is
// marked, and the numbers of steps, are told by rank 0.
struct RankProgram {
  const program::Program* program = nullptr;
  double slowness = 1;
};

// What belongs to all of them (listing, buckets, names of steps) is the first one's, and so are the
// buffers that operations name: what is simulated needs no others. Every communicator has all its
// ranks, and of those that are groups alike each rank has its own.
program::Program join_ranks(const std::vector<RankProgram>& ranks);

// The ranks of a pipeline, or of several alike, one behind another, each with operations, numbers,
// marks and gradients of its own stages. Steps are logged by the rank of the first that has the
// loss.
program::Program join_stages(const std::vector<RankProgram>& ranks);

// A program whose one rank stands for all, as one of all ranks: for an executor that carries out
// each. Every rank has operations and payloads of its own, and begins with the same numbers, or its
// part of them; batches are those of a thread's rank. Any other program: itself.
program::Program with_every_rank(const program::Program& one);

// A program whose one rank stands for all, as that of one of them, on the GPU of its number: for a
// process of its own. Its communicators still have all their ranks; of those that are groups alike
// it has the one that the rank is in.
program::Program only_rank(const program::Program& one, int rank);

// The same of a pipeline: `own` is the program of the rank's own stages, built as if its pipeline
// were the first. Steps are logged by the first rank that has the loss.
program::Program only_stages(program::Program own, int rank);

}  // namespace trainscope::train
