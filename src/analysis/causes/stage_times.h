// What the stages of a pipeline do and when: of each rank the forward and the backward of every
// micro-batch, as its GPU carries it out, in each stage that it has.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/intervals.h"
#include "trace/trace.h"

namespace trainscope::analysis {

struct StageCell {
  std::int32_t rank = 0;
  int stage = 0;
  int micro_batch = 0;
  bool is_backward = false;
  // From its first kernel to the end of its last; without what waits for all sums of gradients.
  Interval time;
};

// A sum of a stage's gradients with those of other pipelines, in the last backward.
struct StageSum {
  std::int32_t rank = 0;
  Interval time;
};

// Of one step.
struct StageStep {
  std::vector<StageCell> cells;  // by rank, then by time
  std::vector<StageSum> sums;    // likewise
  Interval time;                 // of all of these
};

struct StageTimes {
  int ranks = 0;   // of a pipeline
  int stages = 0;  // of a pipeline
  int micro_batches = 0;
  std::vector<StageStep> steps;
  int pipelines = 1;  // alike

  bool empty() const { return steps.empty(); }
  // A rank has several stages.
  bool is_interleaved() const { return stages > ranks; }
  // The step whose cells are under way at a time, or were last; the first before all.
  std::size_t step_at(Nanos time) const;
};

// By the marks "Forward 3" and "Backward 3" of the ranks' main threads, or "PP:4F3" and "PP:4B3"
// where they name the stage, as torch.distributed.pipelining has them, and what is launched between
// their ends. `pipeline`: ranks of one of several pipelines, 0: all. Empty where a trace has no
// such marks, or those of one rank alone.
StageTimes stage_times(const trace::Trace& trace, int pipeline = 0);

}  // namespace trainscope::analysis
