// How gradients get from backward to the sum over all ranks, in DistributedDataParallel: which
// bucket each went into, when the bucket was ready, launched, summed; and how much of that the GPU
// had nothing to calculate beside.
//
// Read off a trace by PyTorch's names: the kernels of torch::distributed::reducer::mul_out, or with
// a comm hook copy_, write gradients into buckets, c10d::allreduce_ sums them. So the trace may be
// simulated, or of PyTorch's profiler. What a trace does not tell (names of parameters, without a
// program) is left out. Where ranks are told apart, it is about the one that metrics are about.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// How the names of operators begin that write a gradient into its bucket.
inline constexpr std::string_view kIntoBucket = "torch::distributed::reducer::";

// A gradient on its way into its bucket.
struct BucketGradient {
  std::string parameter;   // "layer4.2.bn3.weight"; empty: the trace does not tell
  std::int64_t bytes = 0;  // 0: the trace does not tell
  Nanos ready = 0;         // it lies in the bucket
};

// One bucket of one backward.
struct BucketTimes {
  std::vector<BucketGradient> gradients;  // as they came; empty: the trace does not tell
  std::int64_t bytes = 0;                 // that are summed
  std::optional<Nanos> ready;             // its last gradient
  Nanos launched = 0;                     // the host's call
  Nanos started = 0;                      // the all-reduce on the GPU, once the last rank is there
  Nanos done = 0;
  Nanos exposed = 0;                  // of that, while no kernel ran
  trace::SpanId span = trace::kNone;  // of the all-reduce
  std::string algorithm;              // of NCCL, by the kernel's name: "ring"; empty: not known
  std::string protocol;               // "LL128"
};

// One backward that sums its gradients, with its buckets in the order of their all-reduces.
struct BackwardFlow {
  int step = 0;    // by its mark, from 0
  int number = 0;  // that the mark has: a profiler may begin at a later one
  std::vector<BucketTimes> buckets;
  // Its first gradient is ready; where the trace does not tell, its first bucket is launched.
  Nanos begun() const;
  Nanos done() const { return buckets.back().done; }
};

// What of a step was communication with nothing beside it.
struct StepExposure {
  Interval window;
  Nanos mark = 0;     // when the host began the step
  Nanos buckets = 0;  // of the step's all-reduces of gradients
  Nanos others = 0;   // of other collectives: broadcasts of buffers
};

struct GradientFlow {
  int ranks = 1;
  std::optional<int> rank;              // whose gradients they are, where ranks are told apart
  std::vector<int> here;                // ranks that an imported trace has, where not all are in it
  std::vector<BackwardFlow> backwards;  // by time
  std::vector<StepExposure> steps;      // all, warm-up included; one of the whole where there is no
                                        // step mark
  bool empty() const { return backwards.empty(); }
  bool has(int one) const { return here.empty() || std::ranges::find(here, one) != here.end(); }
  // The last backward that has begun by then, else the first. Only where there is one.
  const BackwardFlow& at(Nanos time) const;
};

// The gradients in the order in which the program of a rank writes them into DDP's buckets, as its
// commands stand; of a saved program as they stood for its first rank.
std::vector<program::Index> bucket_writes(const program::Program& program, int rank);

// `program` may be null: then parameters have no names.
GradientFlow gradient_flow(const trace::Trace& trace, const program::Program* program);

// Where a bucket is at a time.
enum class BucketState : std::uint8_t { kFilling, kReady, kRunning, kDone };
BucketState state_at(const BucketTimes& bucket, Nanos time);
// Of its gradients: 0..1, by bytes where they are known, else by number. Where nothing is known of
// them, all or none: by the launch.
double share_ready(const BucketTimes& bucket, Nanos time);
// Of its all-reduce: 0..1.
double share_summed(const BucketTimes& bucket, Nanos time);

}  // namespace trainscope::analysis
