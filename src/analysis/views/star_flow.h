// What nn.DataParallel sends between GPU 0 and the others in each step: the parts of the batch out,
// the parameters out, the outputs back, their gradients out, the parameters' gradients back. All of
// it goes from GPU 0 or to it: a star.
//
// Read off a trace of one process on several GPUs: copies between GPUs (PyTorch's profiler calls
// them "Memcpy PtoP"), and NCCL's broadcasts and reductions within the process.
#pragma once

#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

enum class StarStage : std::uint8_t { kScatter, kReplicate, kGather, kScatterGradient, kReduce };
// As PyTorch calls it: "scatter", "replicate".
std::string_view name_of(StarStage stage);
bool leaves_gpu0(StarStage stage);  // else it comes to GPU 0

// Bytes between GPU 0 and another, or between GPU 0 and all others.
struct StarTransfer {
  static constexpr int kAll = -1;
  int other = kAll;
  std::int64_t bytes = 0;  // 0: the trace does not tell
  Nanos start = 0;
  Nanos end = 0;
  trace::SpanId span = trace::kNone;
};

// Transfers of one kind that follow each other.
struct StarStageTimes {
  StarStage stage = StarStage::kScatter;
  std::vector<StarTransfer> transfers;  // by start
  std::int64_t bytes = 0;               // into or out of GPU 0, each byte as often as it goes
  Nanos start = 0;
  Nanos end = 0;
  Nanos exposed = 0;  // of the transfers, while GPU 0 calculated nothing
};

struct StarStep {
  int step = 0;  // by its mark, from 0
  Interval window;
  std::vector<StarStageTimes> stages;
};

// When a GPU calculated what.
struct GpuWork {
  IntervalSet forward, backward, optimizer, others;
  IntervalSet all() const;
};

struct StarFlow {
  std::vector<GpuWork> gpus;
  std::vector<StarStep> steps;  // those that send anything, by time
  bool empty() const { return steps.empty(); }
  // The last step that has begun by then, else the first. Only where there is one.
  const StarStep& at(Nanos time) const;
};

StarFlow star_flow(const trace::Trace& trace);

}  // namespace trainscope::analysis
