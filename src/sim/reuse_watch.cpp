#include "sim/reuse_watch.h"

namespace trainscope::sim {
namespace {

bool overlap(const CachingAllocator::Place& a, const CachingAllocator::Place& b) {
  return a.segment == b.segment && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

}  // namespace

ReuseWatch::ReuseWatch(const program::Program& program)
    : program_(program),
      watches_(program.streams.size() > 1),
      states_(watches_ ? program.buffers.size() : 0) {}

void ReuseWatch::allocated(program::Index buffer, program::Index stream,
                           CachingAllocator::Place place) {
  if (!watches_) return;
  states_[buffer] = {stream, kNoOp, kNoOp};
  std::erase_if(left_, [&](const Left& left) {
    if (left.device != program_.buffers[buffer].device || !overlap(left.place, place)) return false;
    states_[buffer].left_to = left.reader;
    return true;
  });
}

void ReuseWatch::used(const std::vector<program::Index>& buffers, program::Index stream, OpId op) {
  if (!watches_) return;
  for (const program::Index buffer : buffers) {
    State& state = states_[buffer];
    if (state.stream != program::kNoIndex && state.stream != stream) state.reader = op;
  }
}

void ReuseWatch::freed(program::Index buffer, CachingAllocator::Place place) {
  if (!watches_) return;
  if (states_[buffer].reader != kNoOp)
    left_.push_back({program_.buffers[buffer].device, place, states_[buffer].reader});
  states_[buffer] = {};
}

void ReuseWatch::filled(program::Index buffer, OpId copy) {
  if (!watches_ || states_[buffer].left_to == kNoOp) return;
  suspects_.push_back({copy, states_[buffer].left_to, buffer});
}

}  // namespace trainscope::sim
