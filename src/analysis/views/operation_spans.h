// Which spans of a trace are operations: work of the GPU, and calls of the host; and what a call
// takes itself, and gives to the GPU.
#pragma once

#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

class OperationSpans {
 public:
  explicit OperationSpans(const Measured& measured);

  // Of the rank that is measured. A copy is one once, on its engine where the trace has engines.
  bool is_gpu_work(const trace::Span& span) const;
  // No mark of a user's, and no wait that another span makes whole: in an imported trace a wait is
  // the call that waits, in others where it has that call's name, as cudaDeviceSynchronize.
  bool is_host_call(const trace::Span& span) const;
  bool is_on_host(const trace::Span& span) const;

 private:
  const trace::Lane& lane_of(const trace::Span& span) const;

  const Measured& measured_;
  bool has_engines_ = false;
  bool is_imported_ = false;
};

// As PyTorch's profiler tells of an operator: "Self CPU", "CUDA total" and "Self CUDA". Work of the
// GPU that runs beside other work counts in full.
struct CallUse {
  Nanos self = 0;          // without the calls that it makes, and autograd's that it waits for
  Nanos held = 0;          // of that, waiting, where a wait is a span within the call
  Nanos gpu = 0;           // of what it launches, itself or by the calls that it makes
  Nanos self_gpu = 0;      // of an operator: what it launches by calls of the CUDA runtime alone
  Nanos self_kernels = 0;  // of that, kernels: no copies and no collectives
};

// By the numbers of the spans; zeros for those that are no calls of the host. Calls of a thread
// that overlap without one holding the other share no time: the later one has it.
std::vector<CallUse> call_uses(const Measured& measured, const OperationSpans& spans);

}  // namespace trainscope::analysis
