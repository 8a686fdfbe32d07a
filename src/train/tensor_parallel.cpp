#include "train/tensor_parallel.h"

#include "train/parallel.h"

namespace trainscope::train {
namespace {

using program::Index;

constexpr Index kComputeStream = 0;

}  // namespace

TensorParallel::TensorParallel(program::Program& program, const program::Config& config, int ranks)
    : program_(program),
      communicator_(static_cast<Index>(program.communicators.size())),
      stream_(static_cast<Index>(program.streams.size())),
      summed_event_(program.events++) {
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
  const Index from = operation.reads[0], to = operation.writes[0];
  const std::int64_t bytes = program_.buffers[to].bytes;
  launch.allocate(thread, copy.allocated);
  thread.add(program::Copy{from, to, bytes, kComputeStream}, "aten::clone");
  program::Collective all_reduce;
  all_reduce.communicator = communicator_;
  all_reduce.kind = program::CollectiveKind::kAllReduce;
  all_reduce.bytes = bytes;
  all_reduce.stream = stream_;
  all_reduce.after = kComputeStream;
  all_reduce.sequence = sequence_++;
  all_reduce.send = all_reduce.receive = payload_of(to);
  thread.add(all_reduce, "_c10d_functional::all_reduce");
  thread.add(program::RecordEvent{summed_event_, stream_});
  thread.add(program::StreamWait{kComputeStream, summed_event_}, "_c10d_functional::wait_tensor");
  launch.free(thread, copy.freed);
}

Index TensorParallel::payload_of(Index buffer) {
  const auto [known, added] =
      payloads_.try_emplace(buffer, static_cast<Index>(program_.payloads.size()));
  if (added) program_.payloads.push_back({buffer});
  return known->second;
}

}  // namespace trainscope::train
