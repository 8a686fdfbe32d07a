#include "train/tensor_parallel.h"

#include "train/parallel.h"

namespace trainscope::train {

TensorParallel::TensorParallel(program::Program& program, const program::Config& config, int ranks)
    : program_(program),
      sum_(program, static_cast<program::Index>(program.communicators.size()),
           static_cast<program::Index>(program.streams.size())) {
  add_communicator(program, config, ranks);
  program.streams.push_back(nccl_stream(0));
}

void TensorParallel::run(ThreadWriter& thread, const std::vector<PlannedLaunch>& launches,
                         const LaunchWriter& launch) {
  for (const PlannedLaunch& planned : launches) {
    if (planned.is_summed) {
      sum(thread, planned, launch);
    } else {
      launch(thread, planned);
    }
  }
}

void TensorParallel::sum(ThreadWriter& thread, const PlannedLaunch& copy,
                         const LaunchWriter& launch) {
  const program::Operation& operation = program_.operations[copy.operation];
  launch.allocate(thread, copy.allocated);
  sum_(thread, operation.reads[0], operation.writes[0], sequence_++);
  launch.free(thread, copy.freed);
}

}  // namespace trainscope::train
