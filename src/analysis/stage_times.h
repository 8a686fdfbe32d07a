// What the stages of a pipeline do and when: of each rank the forward and the backward of every
// micro-batch, as its GPU carries it out, in each stage that it has.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct StageCell {
  std::int32_t rank = 0;
  int stage = 0;
  int micro_batch = 0;
  bool is_backward = false;
  Interval time;  // from its first kernel to the end of its last
};

// Of one step.
struct StageStep {
  std::vector<StageCell> cells;  // by rank, then by time
  Interval time;                 // of all cells
};

struct StageTimes {
  int ranks = 0;
  int stages = 0;  // of all ranks
  int micro_batches = 0;
  std::vector<StageStep> steps;

  bool empty() const { return steps.empty(); }
  // A rank has several stages.
  bool is_interleaved() const { return stages > ranks; }
  // The step whose cells are under way at a time, or were last; the first before all.
  std::size_t step_at(Nanos time) const;
};

// By the marks "Forward 3" and "Backward 3" of the ranks' main threads, or "PP:4F3" and "PP:4B3"
// where they name the stage, as torch.distributed.pipelining has them, and what is launched between
// their ends. Empty where a trace has no such marks, or those of one rank alone.
StageTimes stage_times(const trace::Trace& trace);

}  // namespace trainscope::analysis
