// The order of an interleaved pipeline, in which each rank has several stages: what it computes,
// and what it sends and receives in between (torch.distributed.pipelining's
// ScheduleInterleaved1F1B, schedules.py there; Narayanan et al., arXiv:2104.04473, 2.2.2).
//
// Stages go round the ranks: of p ranks, rank r has the stages r, r + p, r + 2p and so on.
// Micro-batches go through them in rounds: those of a round through a rank's first stage, then
// through its next, and so on, before those of the next round come. Backward goes the other way.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace trainscope::train {

struct InterleavedShape {
  int ranks = 1;
  int stages_per_rank = 1;
  std::int64_t micro_batches = 1;

  int stages() const { return ranks * stages_per_rank; }
  int rank_of(int stage) const { return stage % ranks; }
  // number_of_rounds and microbatches_per_round of ScheduleInterleaved1F1B, which wants them equal.
  std::int64_t rounds() const { return std::max<std::int64_t>(1, micro_batches / ranks); }
  std::int64_t per_round() const { return micro_batches / rounds(); }
  bool rounds_are_equal() const { return micro_batches % rounds() == 0; }
};

enum class StageWork : std::uint8_t {
  kForward,
  kBackward,
  kSendForward,
  kReceiveForward,
  kSendBackward,
  kReceiveBackward,
  kReduceGradients  // of all micro-batches, once the stage's last backward is done
};

struct StageAction {
  StageWork work = StageWork::kForward;
  int stage = 0;
  std::int64_t micro_batch = 0;

  auto operator<=>(const StageAction&) const = default;
};

// As PyTorch's profiler shows it: "PP:4F1" is stage 4's forward of micro-batch 1.
std::string mark_of(const StageAction& action);

// What one rank computes: forwards and backwards.
std::vector<StageAction> interleaved_order(const InterleavedShape& shape, int rank);

// What every rank does. There are at least two, and rounds are equal. Whatever two ranks send each
// other stands in one order on both, so that none waits for ever.
std::vector<std::vector<StageAction>> interleaved_schedule(const InterleavedShape& shape);

}  // namespace trainscope::train
