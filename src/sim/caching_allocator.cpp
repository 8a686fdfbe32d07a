#include "sim/caching_allocator.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/whole.h"

namespace trainscope::sim {
namespace {

using trace::AllocatorAction;

}  // namespace

std::int64_t CachingAllocator::rounded(std::int64_t bytes) {
  return std::max(kRounding, round_up(bytes, kRounding));
}

std::int64_t CachingAllocator::segment_bytes(std::int64_t bytes) {
  const std::int64_t size = rounded(bytes);
  if (size <= kSmallRequest) return kSmallSegment;
  return size < kOwnSegment ? kLargeSegment : round_up(size, kSegmentRounding);
}

double CachingAllocator::Statistics::fragmentation() const {
  return reserved == 0 ? 0 : 1 - static_cast<double>(allocated) / static_cast<double>(reserved);
}

CachingAllocator::Key CachingAllocator::key_of(const Block& block) {
  return {block.stream, block.bytes, block.segment, block.offset};
}

CachingAllocator::BlockId CachingAllocator::new_block() {
  if (unused_.empty()) {
    blocks_.emplace_back();
    return static_cast<BlockId>(blocks_.size() - 1);
  }
  const BlockId id = unused_.back();
  unused_.pop_back();
  blocks_[id] = {};
  return id;
}

void CachingAllocator::put_in(BlockId id) {
  const Block& block = blocks_[id];
  if (spare_nodes_.empty()) {
    pool(block.small).emplace(key_of(block), id);
    return;
  }
  Pool::node_type node = std::move(spare_nodes_.back());
  spare_nodes_.pop_back();
  node.key() = key_of(block);
  node.mapped() = id;
  pool(block.small).insert(std::move(node));
}

void CachingAllocator::take_out(Pool& free_blocks, Pool::iterator entry) {
  spare_nodes_.push_back(free_blocks.extract(entry));
}

void CachingAllocator::note(AllocatorAction kind, const Block& block) {
  actions_.push_back(
      {kind, block.segment, block.offset, block.bytes, block.requested, block.stream, block.owner});
}

void CachingAllocator::take_actions(std::vector<Action>& taken) {
  taken.clear();
  taken.swap(actions_);
}

// ---- Allocating --------------------------------------------------------------------------------

std::optional<CachingAllocator::BlockId> CachingAllocator::allocate(std::int64_t bytes,
                                                                    StreamId stream,
                                                                    std::uint32_t owner,
                                                                    const IsDone& is_done) {
  poll(is_done);
  std::optional<BlockId> block = find(bytes, stream);
  if (!block) block = reserve(bytes, stream);
  if (!block) return std::nullopt;
  return hand_out(*block, bytes, owner);
}

std::optional<CachingAllocator::BlockId> CachingAllocator::retry(std::int64_t bytes,
                                                                 StreamId stream,
                                                                 std::uint32_t owner) {
  ++statistics_.retries;
  const Action action{
      AllocatorAction::kRetry, kNone, 0, segment_bytes(bytes), bytes, stream, owner};
  actions_.push_back(action);
  const std::optional<BlockId> block = reserve(bytes, stream);
  if (block) return hand_out(*block, bytes, owner);
  actions_.push_back(action);
  actions_.back().kind = AllocatorAction::kOutOfMemory;
  return std::nullopt;
}

// The smallest free block that fits, taken out of its pool.
std::optional<CachingAllocator::BlockId> CachingAllocator::find(std::int64_t bytes,
                                                                StreamId stream) {
  const std::int64_t size = rounded(bytes);
  Pool& free_blocks = pool(size <= kSmallRequest);
  const auto found = free_blocks.lower_bound({stream, size, 0, 0});
  if (found == free_blocks.end() || std::get<0>(found->first) != stream) return std::nullopt;
  const BlockId block = found->second;
  take_out(free_blocks, found);
  return block;
}

// cudaMalloc: a new segment, as one block that is in no pool.
std::optional<CachingAllocator::BlockId> CachingAllocator::reserve(std::int64_t bytes,
                                                                   StreamId stream) {
  const std::int64_t size = segment_bytes(bytes);
  if (size > capacity_ - statistics_.reserved) return std::nullopt;
  const BlockId id = new_block();
  Block& block = blocks_[id];
  block.segment = next_segment_++;
  block.bytes = size;
  block.stream = stream;
  block.small = rounded(bytes) <= kSmallRequest;
  segments_[block.segment] = {size, id, block.small};
  statistics_.reserved += size;
  statistics_.peak_reserved = std::max(statistics_.peak_reserved, statistics_.reserved);
  ++statistics_.segments;
  note(AllocatorAction::kSegmentAlloc, block);
  return id;
}

CachingAllocator::BlockId CachingAllocator::hand_out(BlockId id, std::int64_t bytes,
                                                     std::uint32_t owner) {
  const std::int64_t size = rounded(bytes), left = blocks_[id].bytes - size;
  if (blocks_[id].small ? left >= kRounding : left > kSmallRequest) split(id, size);
  Block& block = blocks_[id];
  block.state = State::kAllocated;
  block.requested = bytes;
  block.owner = owner;
  statistics_.allocated += block.bytes;
  statistics_.requested += bytes;
  statistics_.peak_allocated = std::max(statistics_.peak_allocated, statistics_.allocated);
  note(AllocatorAction::kAlloc, block);
  return id;
}

// The block keeps its first `bytes`; the rest becomes a free block.
void CachingAllocator::split(BlockId id, std::int64_t bytes) {
  const BlockId rest_id = new_block();
  Block &block = blocks_[id], &rest = blocks_[rest_id];
  rest.segment = block.segment;
  rest.offset = block.offset + bytes;
  rest.bytes = block.bytes - bytes;
  rest.stream = block.stream;
  rest.small = block.small;
  rest.before = id;
  rest.after = block.after;
  if (block.after != kNone) blocks_[block.after].before = rest_id;
  block.after = rest_id;
  block.bytes = bytes;
  put_in(rest_id);
}

// ---- Freeing -----------------------------------------------------------------------------------

void CachingAllocator::record_stream(BlockId id, StreamId stream) {
  Block& block = blocks_[id];
  const bool known =
      std::find(block.used_by.begin(), block.used_by.end(), stream) != block.used_by.end();
  if (stream != block.stream && !known) block.used_by.push_back(stream);
}

void CachingAllocator::free(BlockId id, const std::vector<EventId>& events) {
  Block& block = blocks_[id];
  assert(block.state == State::kAllocated && events.size() == block.used_by.size());
  statistics_.allocated -= block.bytes;
  statistics_.requested -= block.requested;
  statistics_.waiting += block.bytes;
  note(AllocatorAction::kFreeRequested, block);
  block.state = State::kWaiting;
  block.events = static_cast<std::uint32_t>(events.size());
  for (std::size_t i = 0; i < events.size(); ++i)
    pending_[block.used_by[i]].emplace_back(events[i], id);
  if (events.empty()) complete_free(id);
}

// Of each stream in order, up to the first event that has not passed.
void CachingAllocator::poll(const IsDone& is_done) {
  for (auto& [stream, events] : pending_) {
    while (!events.empty() && is_done(events.front().first)) {
      const BlockId block = events.front().second;
      events.pop_front();
      if (--blocks_[block].events == 0) complete_free(block);
    }
  }
}

void CachingAllocator::complete_free(BlockId id) {
  Block& block = blocks_[id];
  statistics_.waiting -= block.bytes;
  note(AllocatorAction::kFreeCompleted, block);
  block.state = State::kFree;
  block.owner = kNone;
  block.requested = 0;
  block.used_by.clear();
  join(id, block.before);
  join(id, block.after);
  put_in(id);
}

// A free neighbour becomes part of the block.
void CachingAllocator::join(BlockId id, BlockId neighbour) {
  if (neighbour == kNone || blocks_[neighbour].state != State::kFree) return;
  Block &block = blocks_[id], &other = blocks_[neighbour];
  Pool& free_blocks = pool(other.small);
  take_out(free_blocks, free_blocks.find(key_of(other)));
  block.bytes += other.bytes;
  if (block.before == neighbour) {
    block.offset = other.offset;
    block.before = other.before;
    if (block.before != kNone) blocks_[block.before].after = id;
    if (block.before == kNone) segments_.at(block.segment).first = id;
  } else {
    block.after = other.after;
    if (block.after != kNone) blocks_[block.after].before = id;
  }
  unused_.push_back(neighbour);
}

bool CachingAllocator::has_cache() const {
  const auto whole = [&](const Pool& free_blocks) {
    return std::any_of(free_blocks.begin(), free_blocks.end(), [&](const auto& entry) {
      const Block& block = blocks_[entry.second];
      return block.before == kNone && block.after == kNone;
    });
  };
  return statistics_.waiting > 0 || whole(small_) || whole(large_);
}

void CachingAllocator::empty_cache(const IsDone& is_done) {
  poll(is_done);
  release(large_);
  release(small_);
}

void CachingAllocator::release(Pool& free_blocks) {
  for (auto entry = free_blocks.begin(); entry != free_blocks.end();) {
    const BlockId id = entry->second;
    const Block& block = blocks_[id];
    if (block.before != kNone || block.after != kNone) {
      ++entry;
      continue;
    }
    note(AllocatorAction::kSegmentFree, block);
    statistics_.reserved -= block.bytes;
    --statistics_.segments;
    segments_.erase(block.segment);
    unused_.push_back(id);
    take_out(free_blocks, entry++);
  }
}

// ---- Looking -----------------------------------------------------------------------------------

std::vector<CachingAllocator::SegmentView> CachingAllocator::snapshot() const {
  std::vector<SegmentView> views;
  for (const auto& [number, segment] : segments_) {
    SegmentView view{number, segment.bytes, blocks_[segment.first].stream, segment.small, {}};
    for (BlockId id = segment.first; id != kNone; id = blocks_[id].after) {
      const Block& block = blocks_[id];
      view.blocks.push_back({block.offset, block.bytes, block.state, block.owner});
    }
    views.push_back(std::move(view));
  }
  return views;
}

}  // namespace trainscope::sim
