#include "train/parallel/tensor_parallel.h"

#include "train/parallel/parallel.h"

namespace trainscope::train {

TensorParallel::TensorParallel(program::Program& program, const program::Config& config,
                               const TrainSettings& settings)
    : program_(program),
      collectives_(program, static_cast<program::Index>(program.communicators.size()),
                   static_cast<program::Index>(program.streams.size())) {
  if (settings.ranks > 1) {
    add_neighbours(program, config, settings.processes(), settings.tensor_ranks).name =
        "tensor group";
  } else {
    add_communicator(program, config, settings.tensor_ranks);
  }
  program.streams.push_back(nccl_stream(0));
}

void TensorParallel::run(ThreadWriter& thread, const PlannedLaunch& planned,
                         const LaunchWriter& launch) {
  if (planned.sent == Sent::kNot) {
    launch(thread, planned);
  } else {
    send(thread, planned, launch);
  }
}

void TensorParallel::run(ThreadWriter& thread, const std::vector<PlannedLaunch>& launches,
                         const LaunchWriter& launch) {
  for (const PlannedLaunch& planned : launches) run(thread, planned, launch);
}

void TensorParallel::send(ThreadWriter& thread, const PlannedLaunch& planned,
                          const LaunchWriter& launch) {
  const program::Operation& operation = program_.operations[planned.operation];
  const program::Index from = operation.reads[0], to = operation.writes[0];
  launch.allocate(thread, planned.allocated);
  if (planned.sent == Sent::kSummed) {
    collectives_.sum(thread, from, to, sequence_++);
  } else if (planned.sent == Sent::kLargest) {
    collectives_.maximum(thread, from, to, sequence_++);
  } else if (planned.sent == Sent::kGathered) {
    collectives_.gather(thread, from, to, sequence_++);
  } else {
    collectives_.scatter(thread, from, to, sequence_++);
  }
  launch.free(thread, planned.freed);
}

void TensorParallel::sum(ThreadWriter& main, const RankSum& numbers) {
  collectives_.sum(main, numbers.own, numbers.sum, sequence_++);
}

}  // namespace trainscope::train
