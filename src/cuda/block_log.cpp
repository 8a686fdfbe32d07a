#include "cuda/block_log.h"

#include <utility>

namespace trainscope::cuda {

BlockRecord* BlockLog::room_for(const KernelCall& kernel, CallId call, StreamHandle stream) {
  const std::int64_t blocks = device_.blocks_recorded(kernel);
  if (blocks == 0) return nullptr;
  const std::lock_guard held(mutex_);
  if (blocks_ + blocks > kMostBlocks) {
    ++dropped_;
    return nullptr;
  }
  const auto bytes = blocks * static_cast<std::int64_t>(sizeof(BlockRecord));
  BlockRecord* records = nullptr;
  try {
    records = static_cast<BlockRecord*>(device_.allocate(bytes, stream));
  } catch (const OutOfDeviceMemory&) {
    ++dropped_;  // the run goes on without them
    return nullptr;
  }
  blocks_ += blocks;
  launches_.push_back({call, stream, records, blocks});
  return records;
}

std::vector<BlockTrace> BlockLog::take() {
  std::vector<BlockTrace> all;
  for (const Launch& launch : std::exchange(launches_, {})) {
    BlockTrace trace;
    trace.call = launch.call;
    trace.blocks.resize(static_cast<std::size_t>(launch.blocks));
    CopyCall copy;
    copy.from = launch.records;
    copy.to = trace.blocks.data();
    copy.bytes = launch.blocks * static_cast<std::int64_t>(sizeof(BlockRecord));
    copy.from_kind = program::MemoryKind::kDevice;
    copy.to_kind = program::MemoryKind::kPageable;
    device_.copy(copy, launch.stream);
    device_.synchronise_stream(launch.stream);
    device_.release(launch.records, launch.stream);
    all.push_back(std::move(trace));
  }
  return all;
}

}  // namespace trainscope::cuda
