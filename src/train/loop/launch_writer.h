// Writes kernels and memory of the training loop into a thread's commands: on the GPU's default
// stream, or, without any of either, as work of the CPU.
#pragma once

#include <functional>
#include <vector>

#include "program/program.h"
#include "train/autograd/tape.h"
#include "train/kernels/convolutions.h"
#include "train/loop/update.h"
#include "train/writer.h"

namespace trainscope::train {

// Writes a launch of a plan: as it stands, or with what a compiled model does around it.
using WriteLaunch = std::function<void(ThreadWriter&, const PlannedLaunch&)>;

class LaunchWriter {
 public:
  // `convolutions`: whose search precedes those that need it, and which outlives this; null: none.
  LaunchWriter(bool on_cpu, Convolutions* convolutions)
      : on_cpu_(on_cpu), convolutions_(convolutions) {}

  void allocate(ThreadWriter& thread, const std::vector<program::Index>& buffers) const {
    if (on_cpu_) return;
    for (const program::Index buffer : buffers) thread.add(program::Alloc{buffer, 0});
  }
  void free(ThreadWriter& thread, const std::vector<program::Index>& buffers) const {
    if (on_cpu_) return;
    for (const program::Index buffer : buffers) thread.add(program::Free{buffer});
  }

  // `predicate`: a buffer by which the kernel itself does nothing.
  void one(ThreadWriter& thread, program::Index operation,
           program::Index predicate = program::kNoIndex, bool same_operator = false) const {
    if (on_cpu_) {
      thread.add(program::Compute{operation});
    } else {
      thread.add(program::Launch{operation, 0, predicate, same_operator});
    }
  }
  void operator()(ThreadWriter& thread, const PlannedLaunch& planned) const {
    if (convolutions_) convolutions_->search(thread, planned, 0);
    allocate(thread, planned.allocated);
    one(thread, planned.operation, program::kNoIndex, planned.same_operator);
    free(thread, planned.freed);
  }
  void operator()(ThreadWriter& thread, const std::vector<PlannedLaunch>& launches) const {
    for (const PlannedLaunch& planned : launches) (*this)(thread, planned);
  }
  void operator()(ThreadWriter& thread, const Launches& launches) const {
    for (const program::Index operation : launches) one(thread, operation);
  }

 private:
  bool on_cpu_;
  Convolutions* convolutions_;
};

}  // namespace trainscope::train
