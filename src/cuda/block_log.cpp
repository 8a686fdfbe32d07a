#include "cuda/block_log.h"

#include <utility>

namespace trainscope::cuda {

BlockStay* BlockLog::room_for(const KernelCall& kernel, CallId call, StreamHandle stream) {
  const std::int64_t blocks = device_.blocks_told(kernel);
  if (blocks == 0) return nullptr;
  const std::lock_guard held(mutex_);
  if (blocks_ + blocks > kMostBlocks) {
    ++dropped_;
    return nullptr;
  }
  blocks_ += blocks;
  const auto bytes = blocks * static_cast<std::int64_t>(sizeof(BlockStay));
  launches_.push_back(
      {call, stream, static_cast<BlockStay*>(device_.allocate(bytes, stream)), blocks});
  return launches_.back().stays;
}

std::vector<BlockTrace> BlockLog::take() {
  std::vector<BlockTrace> all;
  for (const Launch& launch : std::exchange(launches_, {})) {
    BlockTrace trace;
    trace.call = launch.call;
    trace.blocks.resize(static_cast<std::size_t>(launch.blocks));
    CopyCall copy;
    copy.from = launch.stays;
    copy.to = trace.blocks.data();
    copy.bytes = launch.blocks * static_cast<std::int64_t>(sizeof(BlockStay));
    copy.from_kind = program::MemoryKind::kDevice;
    copy.to_kind = program::MemoryKind::kPageable;
    device_.copy(copy, launch.stream);
    device_.synchronise_stream(launch.stream);
    device_.release(launch.stays, launch.stream);
    all.push_back(std::move(trace));
  }
  return all;
}

}  // namespace trainscope::cuda
