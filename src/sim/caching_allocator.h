// The caching allocator of PyTorch, for one device: what memory a tensor gets, when freed memory is
// handed out again, and when there is none.
//
// As c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11 does it with its default settings (no
// expandable segments, no max_split_size, no private pools of graphs):
//
//   sizes are rounded up to 512 B; up to 1 MiB is a small request, more a large one
//   a small segment has 2 MiB; a large one 20 MiB, or from 10 MiB on its request, rounded up to 2 MiB
//   the smallest free block of the same stream and pool that fits is taken
//   what is left of it becomes a block: of small ones from 512 B on, of large ones above 1 MiB
//   a freed block joins its free neighbours; a whole segment stays until there is no room
//   a block that other streams use is free only once the events recorded at its free have passed,
//     which is looked up at allocations: per stream in order, up to the first that has not
//   when cudaMalloc has no room: wait for those events, cudaFree every segment that is wholly free,
//     cudaMalloc once more, without looking at the free blocks again (pytorch#189504)
//
// A plain data structure: it knows no time. What it did it notes as actions, which the caller
// takes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "trace/trace.h"

namespace trainscope::sim {

class CachingAllocator {
 public:
  using BlockId = std::uint32_t;  // of a block that is handed out; may be given again afterwards
  using StreamId = std::uint32_t;
  using EventId = std::uint32_t;
  using IsDone = std::function<bool(EventId)>;
  static constexpr std::uint32_t kNone = UINT32_MAX;

  static constexpr std::int64_t kRounding = 512;
  static constexpr std::int64_t kSmallRequest = std::int64_t{1} << 20;
  static constexpr std::int64_t kSmallSegment = std::int64_t{2} << 20;
  static constexpr std::int64_t kLargeSegment = std::int64_t{20} << 20;
  static constexpr std::int64_t kOwnSegment = std::int64_t{10} << 20;  // requests from here on
  static constexpr std::int64_t kSegmentRounding = std::int64_t{2} << 20;

  // A block that is handed out as large as its request asks for; 512 for a request of nothing.
  static std::int64_t rounded(std::int64_t bytes);
  // What cudaMalloc is asked for when no block fits.
  static std::int64_t segment_bytes(std::int64_t bytes);

  struct Action {
    trace::AllocatorAction kind = trace::AllocatorAction::kAlloc;
    std::uint32_t segment = kNone;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::int64_t requested = 0;
    StreamId stream = 0;
    std::uint32_t owner = kNone;  // as given at the allocation
  };

  struct Statistics {
    std::int64_t allocated = 0;  // in blocks that are handed out
    std::int64_t reserved = 0;   // in segments
    std::int64_t requested = 0;  // of the allocated bytes, what was asked for
    std::int64_t waiting = 0;    // in freed blocks whose events have not passed
    std::int64_t peak_allocated = 0;
    std::int64_t peak_reserved = 0;
    std::int64_t retries = 0;
    std::int64_t segments = 0;
    // The share of the reserved bytes that no tensor holds, 0..1.
    double fragmentation() const;
  };

  enum class State : std::uint8_t { kFree, kAllocated, kWaiting };
  struct BlockView {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    State state = State::kFree;
    std::uint32_t owner = kNone;  // of a block that is not free
  };
  struct SegmentView {
    std::uint32_t segment = kNone;
    std::int64_t bytes = 0;
    StreamId stream = 0;
    bool small = false;
    std::vector<BlockView> blocks;  // by offset, without holes
  };

  // `capacity` in bytes: what cudaMalloc can give in all.
  explicit CachingAllocator(std::int64_t capacity) : capacity_(capacity) {}

  // A block for `bytes` that work on `stream` uses: a cached one, or from a new segment. Nothing
  // when cudaMalloc has no room; then empty_cache and retry follow. `is_done` says which events
  // have passed.
  std::optional<BlockId> allocate(std::int64_t bytes, StreamId stream, std::uint32_t owner,
                                  const IsDone& is_done);
  // Whether the freeing of blocks or segments could make room: then the device is waited for.
  bool has_cache() const;
  // Looks up the events, then gives back every segment that is wholly free:
  // torch.cuda.empty_cache().
  void empty_cache(const IsDone& is_done);
  // cudaMalloc once more. Nothing when there is still no room: out of memory.
  std::optional<BlockId> retry(std::int64_t bytes, StreamId stream, std::uint32_t owner);

  // Work on another stream uses the block too.
  void record_stream(BlockId block, StreamId stream);
  // The streams that did so, each once.
  const std::vector<StreamId>& other_streams(BlockId block) const { return blocks_[block].used_by; }
  // The program gives the block back. `events` were recorded now, one on each of the other streams.
  void free(BlockId block, const std::vector<EventId>& events);

  std::int64_t bytes_of(BlockId block) const { return blocks_[block].bytes; }
  // Where a block lies in device memory.
  struct Place {
    std::uint32_t segment = kNone;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
  };
  Place place_of(BlockId block) const {
    return {blocks_[block].segment, blocks_[block].offset, blocks_[block].bytes};
  }
  std::int64_t capacity() const { return capacity_; }
  const Statistics& statistics() const { return statistics_; }
  std::vector<SegmentView> snapshot() const;
  // What it did since `taken` was last asked for, in order. The room goes to and fro: a step
  // allocates and frees thousands of times.
  void take_actions(std::vector<Action>& taken);

 private:
  struct Block {
    std::uint32_t segment = kNone;
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    std::int64_t requested = 0;
    StreamId stream = 0;
    std::uint32_t owner = kNone;
    BlockId before = kNone;  // neighbours in the segment
    BlockId after = kNone;
    State state = State::kFree;
    bool small = false;        // in a segment of small blocks
    std::uint32_t events = 0;  // that have not passed
    std::vector<StreamId> used_by;
  };
  struct Segment {
    std::int64_t bytes = 0;
    BlockId first = kNone;
    bool small = false;
  };
  // The smallest first; of equal ones the oldest segment's, the first in it.
  using Key = std::tuple<StreamId, std::int64_t, std::uint32_t, std::int64_t>;
  using Pool = std::map<Key, BlockId>;

  static Key key_of(const Block& block);
  Pool& pool(bool small) { return small ? small_ : large_; }
  void put_in(BlockId block);
  void take_out(Pool& pool, Pool::iterator entry);
  BlockId new_block();
  std::optional<BlockId> find(std::int64_t bytes, StreamId stream);
  std::optional<BlockId> reserve(std::int64_t bytes, StreamId stream);
  BlockId hand_out(BlockId block, std::int64_t bytes, std::uint32_t owner);
  void split(BlockId block, std::int64_t bytes);
  void poll(const IsDone& is_done);
  void complete_free(BlockId block);
  void join(BlockId block, BlockId neighbour);
  void release(Pool& pool);
  void note(trace::AllocatorAction kind, const Block& block);

  std::int64_t capacity_;
  std::vector<Block> blocks_;
  std::vector<BlockId> unused_;                // ids of blocks that are no more
  std::map<std::uint32_t, Segment> segments_;  // by number
  std::uint32_t next_segment_ = 0;
  Pool small_, large_;  // the free blocks
  std::vector<Pool::node_type> spare_nodes_;
  std::map<StreamId, std::deque<std::pair<EventId, BlockId>>> pending_;
  Statistics statistics_;
  std::vector<Action> actions_;
};

}  // namespace trainscope::sim
