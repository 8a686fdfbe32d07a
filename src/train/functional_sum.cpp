#include "train/functional_sum.h"

namespace trainscope::train {
namespace {

using program::Index;

constexpr Index kComputeStream = 0;

}  // namespace

FunctionalSum::FunctionalSum(program::Program& program, Index communicator, Index stream)
    : program_(program),
      communicator_(communicator),
      stream_(stream),
      summed_event_(program.events++) {}

void FunctionalSum::operator()(ThreadWriter& thread, Index from, Index to, std::int64_t sequence) {
  const std::int64_t bytes = program_.buffers[to].bytes;
  thread.add(program::Copy{from, to, bytes, kComputeStream}, "aten::clone");
  program::Collective all_reduce;
  all_reduce.communicator = communicator_;
  all_reduce.kind = program::CollectiveKind::kAllReduce;
  all_reduce.bytes = bytes;
  all_reduce.stream = stream_;
  all_reduce.after = kComputeStream;
  all_reduce.sequence = sequence;
  all_reduce.send = all_reduce.receive = payload_of(to);
  thread.add(all_reduce, "_c10d_functional::all_reduce");
  thread.add(program::RecordEvent{summed_event_, stream_});
  thread.add(program::StreamWait{kComputeStream, summed_event_}, "_c10d_functional::wait_tensor");
}

Index FunctionalSum::payload_of(Index buffer) {
  const auto [known, added] =
      payloads_.try_emplace(buffer, static_cast<Index>(program_.payloads.size()));
  if (added) program_.payloads.push_back({buffer});
  return known->second;
}

}  // namespace trainscope::train
