// The caching allocator against its published rules, worked out by hand, and against a plain model
// of them over random programs.
#include "sim/caching_allocator.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace trainscope;
using sim::CachingAllocator;
using trace::AllocatorAction;

namespace {

constexpr std::int64_t kKi = 1 << 10, kMi = 1 << 20;

bool never(CachingAllocator::EventId) {
  return false;
}
bool always(CachingAllocator::EventId) {
  return true;
}

// An allocator under test, whose requests are all for one stream unless said otherwise.
struct Bench {
  explicit Bench(std::int64_t capacity = std::int64_t{80} << 30) : allocator(capacity) {}

  std::optional<CachingAllocator::BlockId> take(std::int64_t bytes,
                                                CachingAllocator::StreamId stream = 0) {
    return allocator.allocate(bytes, stream, 0, never);
  }
  // "0: used 512, free 2096640": the blocks of each segment.
  std::string map() const {
    static const char* const kStates[] = {"free", "used", "waiting"};
    std::string text;
    for (const auto& segment : allocator.snapshot()) {
      text += (text.empty() ? "" : "; ") + std::to_string(segment.segment) + ":";
      for (const auto& block : segment.blocks)
        text += std::string(text.back() == ':' ? " " : ", ") +
                kStates[static_cast<int>(block.state)] + " " + std::to_string(block.bytes);
    }
    return text;
  }
  std::vector<CachingAllocator::Action> actions() {
    std::vector<CachingAllocator::Action> taken;
    allocator.take_actions(taken);
    return taken;
  }
  std::int64_t reserved() const { return allocator.statistics().reserved; }
  std::int64_t allocated() const { return allocator.statistics().allocated; }

  CachingAllocator allocator;
};

}  // namespace

// round_size, get_pool, get_allocation_size: kMinBlockSize 512, kSmallSize 1 MiB, kSmallBuffer
// 2 MiB, kLargeBuffer 20 MiB, kMinLargeAlloc 10 MiB, kRoundLarge 2 MiB.
TEST_CASE("sizes are rounded, and segments are as large, as PyTorch says") {
  CHECK(CachingAllocator::rounded(0) == 512);
  CHECK(CachingAllocator::rounded(1) == 512);
  CHECK(CachingAllocator::rounded(512) == 512);
  CHECK(CachingAllocator::rounded(513) == 1024);
  CHECK(CachingAllocator::segment_bytes(4) == 2 * kMi);
  CHECK(CachingAllocator::segment_bytes(kMi) == 2 * kMi);
  CHECK(CachingAllocator::segment_bytes(kMi + 1) == 20 * kMi);
  CHECK(CachingAllocator::segment_bytes(10 * kMi - 512) == 20 * kMi);
  CHECK(CachingAllocator::segment_bytes(10 * kMi - 511) == 10 * kMi);
  CHECK(CachingAllocator::segment_bytes(10 * kMi) == 10 * kMi);
  CHECK(CachingAllocator::segment_bytes(10 * kMi + 1) == 12 * kMi);
}

// should_split: a small block leaves a rest of 512 B or more, a large one of more than 1 MiB.
TEST_CASE("what is left of a block becomes one of its own when it is large enough") {
  Bench small;
  small.take(2 * kMi - 512 - 1 * kMi);  // 1 MiB - 512
  small.take(kMi);
  CHECK(small.map() == "0: used 1048064, used 1048576, free 512");
  small.take(1);
  CHECK(small.map() == "0: used 1048064, used 1048576, used 512");

  Bench large;
  const auto block = large.take(19 * kMi);  // a segment of its own: 20 MiB, 1 MiB left
  CHECK(large.map() == "0: used 20971520");
  CHECK(large.allocator.bytes_of(*block) == 20 * kMi);
  CHECK(large.allocator.statistics().requested == 19 * kMi);
  large.allocator.free(*block, {});
  large.take(19 * kMi - 512);
  CHECK(large.map() == "0: used 19922432, free 1049088");
}

// get_free_block: the first of its stream's blocks, by size, that is not smaller.
TEST_CASE("the smallest block that fits is taken, and none of another stream") {
  Bench bench;
  const auto a = bench.take(30 * kMi), b = bench.take(12 * kMi), c = bench.take(16 * kMi);
  for (const auto& block : {a, b, c}) bench.allocator.free(*block, {});
  CHECK(bench.reserved() == 58 * kMi);
  bench.take(13 * kMi);
  CHECK(bench.map() == "0: free 31457280; 1: free 12582912; 2: used 13631488, free 3145728");
  bench.take(kMi, 1);
  bench.take(11 * kMi, 1);
  CHECK(bench.reserved() == (58 + 2 + 12) * kMi);
  // A small request does not take a large block, however much of it is free.
  bench.take(kMi);
  CHECK(bench.reserved() == (58 + 2 + 12 + 2) * kMi);
}

TEST_CASE("free neighbours become one block again, in whatever order they are freed") {
  std::vector<int> order{0, 1, 2, 3};
  do {
    Bench bench;
    std::vector<CachingAllocator::BlockId> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(*bench.take(3 * kMi));
    CHECK(bench.map() == "0: used 3145728, used 3145728, used 3145728, used 3145728, free 8388608");
    for (const int i : order) bench.allocator.free(blocks[static_cast<std::size_t>(i)], {});
    CHECK(bench.map() == "0: free 20971520");
    CHECK(bench.allocated() == 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

// insert_events and process_events: a block goes back once the events of all its streams have
// passed, each stream's looked at in order.
TEST_CASE("a block that other streams use waits for the events recorded at its free") {
  Bench bench;
  const auto block = bench.take(30 * kMi);
  for (const CachingAllocator::StreamId stream : {1u, 2u, 1u, 0u})
    bench.allocator.record_stream(*block, stream);
  CHECK(bench.allocator.other_streams(*block) == std::vector<CachingAllocator::StreamId>{1, 2});
  bench.allocator.free(*block, {100, 200});
  CHECK(bench.map() == "0: waiting 31457280");
  CHECK(bench.allocated() == 0);
  CHECK(bench.allocator.statistics().waiting == 30 * kMi);
  bench.take(30 * kMi);
  bench.allocator.allocate(30 * kMi, 0, 0, [](auto event) { return event == 100; });
  CHECK(bench.reserved() == 90 * kMi);
  bench.allocator.allocate(30 * kMi, 0, 0, [](auto event) { return event == 200; });
  CHECK(bench.reserved() == 90 * kMi);
  CHECK(bench.map() == "0: used 31457280; 1: used 31457280; 2: used 31457280");
}

TEST_CASE("an event that has not passed holds back the later ones of its stream, not of others") {
  Bench bench;
  std::vector<CachingAllocator::BlockId> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(*bench.take(30 * kMi));
  bench.allocator.record_stream(blocks[0], 1);
  bench.allocator.record_stream(blocks[1], 1);
  bench.allocator.record_stream(blocks[2], 2);
  for (std::uint32_t i = 0; i < 3; ++i) bench.allocator.free(blocks[i], {i});
  bench.allocator.allocate(1, 0, 0, [](auto event) { return event != 0; });
  CHECK(bench.map() ==
        "0: waiting 31457280; 1: waiting 31457280; 2: free 31457280; "
        "3: used 512, free 2096640");
}

// malloc: alloc_block, then release_cached_blocks and alloc_block again as a retry.
TEST_CASE("without room, what is wholly free goes back, and cudaMalloc is tried once more") {
  Bench bench(100 * kMi);
  const auto a = bench.take(40 * kMi), b = bench.take(40 * kMi);
  bench.allocator.free(*a, {});
  CHECK_FALSE(bench.take(50 * kMi));
  CHECK(bench.allocator.has_cache());
  bench.actions();
  bench.allocator.empty_cache(always);
  CHECK(bench.reserved() == 40 * kMi);
  CHECK(bench.allocator.retry(50 * kMi, 0, 0));
  CHECK(bench.map() == "1: used 41943040; 2: used 52428800");
  std::vector<AllocatorAction> done;
  for (const auto& action : bench.actions()) done.push_back(action.kind);
  CHECK(done == std::vector{AllocatorAction::kSegmentFree, AllocatorAction::kRetry,
                            AllocatorAction::kSegmentAlloc, AllocatorAction::kAlloc});

  // 20 MiB are free in a segment that is split: they can be neither given back nor joined.
  bench.allocator.free(*b, {});
  const auto part = bench.take(20 * kMi);
  CHECK_FALSE(bench.take(30 * kMi));
  CHECK_FALSE(bench.allocator.has_cache());
  bench.allocator.empty_cache(always);
  CHECK_FALSE(bench.allocator.retry(30 * kMi, 0, 0));
  CHECK(bench.allocator.statistics().retries == 2);
  CHECK(bench.actions().back().kind == AllocatorAction::kOutOfMemory);
  CHECK(bench.map() == "1: used 20971520, free 20971520; 2: used 52428800");
  CHECK(bench.allocator.statistics().fragmentation() == Approx(20.0 / 90));
  bench.allocator.free(*part, {});
}

// pytorch#189504: after the wait only cudaMalloc is tried, and the block is given back before.
TEST_CASE("a block that waited for an event is given back before the retry, not handed out") {
  Bench bench(60 * kMi);
  const auto block = bench.take(40 * kMi);
  bench.allocator.record_stream(*block, 1);
  bench.allocator.free(*block, {7});
  CHECK_FALSE(bench.take(40 * kMi));
  CHECK(bench.allocator.has_cache());
  bench.allocator.empty_cache(always);
  CHECK(bench.reserved() == 0);
  CHECK(bench.allocator.retry(40 * kMi, 0, 0));
  CHECK(bench.map() == "1: used 41943040");
}

// ---- Random programs ---------------------------------------------------------------------------

namespace {

// The same rules once more, in the plainest way: lists that are searched from end to end.
class Model {
 public:
  struct Block {
    std::int64_t offset, bytes;
    int state = 0;                                                     // 0 free, 1 used, 2 waiting
    std::vector<std::pair<std::uint32_t, std::uint32_t>> events = {};  // stream, event
  };
  struct Segment {
    std::uint32_t number, stream;
    bool small;
    std::int64_t bytes;
    std::vector<Block> blocks;
  };

  explicit Model(std::int64_t capacity) : capacity_(capacity) {}

  // Segment and offset.
  std::optional<std::pair<std::uint32_t, std::int64_t>> allocate(std::int64_t bytes,
                                                                 std::uint32_t stream,
                                                                 std::uint32_t passed) {
    const std::int64_t size = std::max<std::int64_t>(1, (bytes + 511) / 512) * 512;
    const bool small = size <= kMi;
    poll(passed);
    Segment* in = nullptr;
    std::size_t at = 0;
    for (Segment& segment : segments)
      for (std::size_t i = 0; i < segment.blocks.size(); ++i)
        if (segment.stream == stream && segment.small == small && segment.blocks[i].state == 0 &&
            segment.blocks[i].bytes >= size &&
            (!in || segment.blocks[i].bytes < in->blocks[at].bytes))
          in = &segment, at = i;
    if (!in) {
      const std::int64_t whole = small             ? 2 * kMi
                                 : size < 10 * kMi ? 20 * kMi
                                                   : (size + 2 * kMi - 1) / (2 * kMi) * (2 * kMi);
      if (reserved() + whole > capacity_) return std::nullopt;
      segments.push_back({next_++, stream, small, whole, {{0, whole}}});
      in = &segments.back();
      at = 0;
    }
    Block& block = in->blocks[at];
    block.state = 1;
    const std::int64_t left = block.bytes - size, offset = block.offset;
    if (small ? left >= 512 : left > kMi) {
      block.bytes = size;
      in->blocks.insert(in->blocks.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                        Block{offset + size, left});
    }
    return std::pair{in->number, offset};
  }

  void free(std::uint32_t number, std::int64_t offset,
            std::vector<std::pair<std::uint32_t, std::uint32_t>> events) {
    for (Segment& segment : segments)
      for (Block& block : segment.blocks)
        if (segment.number == number && block.offset == offset) {
          block.state = events.empty() ? 0 : 2;
          block.events = std::move(events);
        }
    join();
  }

  void empty_cache(std::uint32_t passed) {
    poll(passed);
    std::erase_if(segments, [](const Segment& segment) {
      return segment.blocks.size() == 1 && segment.blocks[0].state == 0;
    });
  }

  std::int64_t reserved() const {
    std::int64_t sum = 0;
    for (const Segment& segment : segments) sum += segment.bytes;
    return sum;
  }

  std::vector<Segment> segments;

 private:
  // Events up to `passed` have passed; here events of a stream are recorded in rising order.
  void poll(std::uint32_t passed) {
    for (Segment& segment : segments)
      for (Block& block : segment.blocks) {
        std::erase_if(block.events, [&](const auto& event) { return event.second <= passed; });
        if (block.state == 2 && block.events.empty()) block.state = 0;
      }
    join();
  }

  void join() {
    for (Segment& segment : segments)
      for (std::size_t i = 1; i < segment.blocks.size();) {
        Block &before = segment.blocks[i - 1], &block = segment.blocks[i];
        if (before.state != 0 || block.state != 0) {
          ++i;
          continue;
        }
        before.bytes += block.bytes;
        segment.blocks.erase(segment.blocks.begin() + static_cast<std::ptrdiff_t>(i));
      }
  }

  std::int64_t capacity_;
  std::uint32_t next_ = 0;
};

void check_invariants(const CachingAllocator& allocator, const Model& model) {
  std::int64_t reserved = 0, allocated = 0;
  const auto views = allocator.snapshot();
  REQUIRE(views.size() == model.segments.size());
  for (std::size_t s = 0; s < views.size(); ++s) {
    REQUIRE(views[s].segment == model.segments[s].number);
    REQUIRE(views[s].blocks.size() == model.segments[s].blocks.size());
    std::int64_t end = 0;  // blocks lie side by side: none overlap, nothing is lost
    for (std::size_t b = 0; b < views[s].blocks.size(); ++b) {
      const auto& block = views[s].blocks[b];
      REQUIRE(block.offset == end);
      REQUIRE(block.bytes == model.segments[s].blocks[b].bytes);
      REQUIRE(static_cast<int>(block.state) == model.segments[s].blocks[b].state);
      const bool after_free =
          b > 0 && views[s].blocks[b - 1].state == CachingAllocator::State::kFree;
      REQUIRE_FALSE((after_free && block.state == CachingAllocator::State::kFree));
      if (block.state == CachingAllocator::State::kAllocated) allocated += block.bytes;
      end += block.bytes;
    }
    REQUIRE(end == views[s].bytes);
    reserved += views[s].bytes;
  }
  const auto& statistics = allocator.statistics();
  REQUIRE(statistics.reserved == reserved);
  REQUIRE(statistics.allocated == allocated);
  REQUIRE(statistics.requested <= allocated);
  REQUIRE(allocated + statistics.waiting <= reserved);
  REQUIRE(reserved <= allocator.capacity());
  REQUIRE(statistics.peak_allocated >= allocated);
  REQUIRE(statistics.peak_reserved >= reserved);
  REQUIRE(statistics.segments == static_cast<std::int64_t>(views.size()));
}

}  // namespace

TEST_CASE("random programs get the memory that a plain model of the rules gives them") {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const auto upto = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most));
    };
    const std::int64_t capacity = (50 + upto(400)) * kMi;
    CachingAllocator allocator(capacity);
    Model model(capacity);
    struct Live {
      CachingAllocator::BlockId block;
      std::uint32_t segment;
      std::int64_t offset;
    };
    std::vector<Live> live;
    std::uint32_t recorded = 0, passed = 0;
    int failed = 0, retried = 0;
    const auto is_done = [&](CachingAllocator::EventId event) { return event <= passed; };
    for (int step = 0; step < 300; ++step) {
      if (live.empty() || upto(5) < 3) {
        const std::int64_t sizes[] = {upto(4096), upto(kMi + kKi), upto(12 * kMi), upto(40 * kMi)};
        const std::int64_t bytes = sizes[upto(4)];
        const auto stream = static_cast<std::uint32_t>(upto(3));
        auto expected = model.allocate(bytes, stream, passed);
        auto block = allocator.allocate(bytes, stream, 0, is_done);
        REQUIRE(block.has_value() == expected.has_value());
        if (!block) {
          passed = recorded;
          model.empty_cache(passed);
          allocator.empty_cache(is_done);
          REQUIRE(allocator.statistics().reserved == model.reserved());
          block = allocator.retry(bytes, stream, 0);
          REQUIRE(block.has_value() ==
                  (CachingAllocator::segment_bytes(bytes) <= capacity - model.reserved()));
          if (block) {
            expected = model.allocate(bytes, stream + 10, passed);  // cudaMalloc, no cached block
            model.segments.back().stream = stream;
          }
          ++(block ? retried : failed);
        }
        if (block) {
          std::vector<CachingAllocator::Action> actions;
          allocator.take_actions(actions);
          REQUIRE(actions.back().kind == AllocatorAction::kAlloc);
          REQUIRE(actions.back().segment == expected->first);
          REQUIRE(actions.back().offset == expected->second);
          live.push_back({*block, expected->first, expected->second});
          if (upto(3) == 0) allocator.record_stream(*block, static_cast<std::uint32_t>(upto(3)));
        }
      } else {
        const auto which = static_cast<std::size_t>(upto(static_cast<std::int64_t>(live.size())));
        std::vector<CachingAllocator::EventId> events;
        std::vector<std::pair<std::uint32_t, std::uint32_t>> of_streams;
        for (const auto stream : allocator.other_streams(live[which].block)) {
          events.push_back(++recorded);
          of_streams.emplace_back(stream, recorded);
        }
        allocator.free(live[which].block, events);
        model.free(live[which].segment, live[which].offset, of_streams);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      }
      if (upto(4) == 0) passed += static_cast<std::uint32_t>(upto(recorded - passed + 1));
      check_invariants(allocator, model);
    }
    passed = recorded;
    for (const Live& one : live) {
      std::vector<CachingAllocator::EventId> events(allocator.other_streams(one.block).size(), 0);
      allocator.free(one.block, events);
    }
    allocator.empty_cache(is_done);
    CHECK(allocator.statistics().reserved == 0);
    CHECK(allocator.statistics().allocated == 0);
    CHECK(allocator.snapshot().empty());
  }
}
