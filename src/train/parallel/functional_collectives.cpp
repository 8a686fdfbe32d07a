#include "train/parallel/functional_collectives.h"

#include "train/parallel/compute_stream.h"

namespace trainscope::train {
namespace {

using program::Collective;
using program::CollectiveKind;
using program::Index;

}  // namespace

FunctionalCollectives::FunctionalCollectives(program::Program& program, Index communicator,
                                             Index stream)
    : program_(program),
      communicator_(communicator),
      stream_(stream),
      done_event_(program.events++) {}

void FunctionalCollectives::sum(ThreadWriter& thread, Index from, Index to, std::int64_t sequence) {
  Collective all_reduce;
  all_reduce.sequence = sequence;
  reduce(thread, from, to, all_reduce);
}

void FunctionalCollectives::maximum(ThreadWriter& thread, Index from, Index to,
                                    std::int64_t sequence) {
  Collective all_reduce;
  all_reduce.maximum = true;
  all_reduce.sequence = sequence;
  reduce(thread, from, to, all_reduce);
}

void FunctionalCollectives::reduce(ThreadWriter& thread, Index from, Index to,
                                   Collective all_reduce) {
  const std::int64_t bytes = program_.buffers[to].bytes;
  thread.add(program::Copy{from, to, bytes, kComputeStream}, "aten::clone");
  all_reduce.kind = CollectiveKind::kAllReduce;
  all_reduce.bytes = bytes;
  all_reduce.send = all_reduce.receive = payload_of(to);
  collect(thread, all_reduce, "_c10d_functional::all_reduce");
}

void FunctionalCollectives::gather(ThreadWriter& thread, Index from, Index to,
                                   std::int64_t sequence) {
  Collective all_gather;
  all_gather.kind = CollectiveKind::kAllGather;
  all_gather.bytes = program_.buffers[to].bytes;
  all_gather.sequence = sequence;
  all_gather.send = payload_of(from);
  all_gather.receive = payload_of(to);
  collect(thread, all_gather, "_c10d_functional::all_gather_into_tensor");
}

void FunctionalCollectives::scatter(ThreadWriter& thread, Index from, Index to,
                                    std::int64_t sequence) {
  Collective reduce_scatter;
  reduce_scatter.kind = CollectiveKind::kReduceScatter;
  reduce_scatter.bytes = program_.buffers[from].bytes;
  reduce_scatter.sequence = sequence;
  reduce_scatter.send = payload_of(from);
  reduce_scatter.receive = payload_of(to);
  collect(thread, reduce_scatter, "_c10d_functional::reduce_scatter_tensor");
}

void FunctionalCollectives::collect(ThreadWriter& thread, const Collective& collective,
                                    std::string_view name) {
  Collective one = collective;
  one.communicator = communicator_;
  one.stream = stream_;
  one.after = kComputeStream;
  thread.add(one, name);
  thread.add(program::RecordEvent{done_event_, stream_});
  thread.add(program::StreamWait{kComputeStream, done_event_}, "_c10d_functional::wait_tensor");
}

Index FunctionalCollectives::payload_of(Index buffer) {
  const auto [known, added] =
      payloads_.try_emplace(buffer, static_cast<Index>(program_.payloads.size()));
  if (added) program_.payloads.push_back({buffer});
  return known->second;
}

}  // namespace trainscope::train
