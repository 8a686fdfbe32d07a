#include "analysis/advice/memory_fit.h"

#include <algorithm>
#include <deque>
#include <limits>

#include "sim/caching_allocator.h"

namespace trainscope::analysis {
namespace {

using sim::CachingAllocator;

bool always(CachingAllocator::EventId) {
  return true;
}

// The program's buffers in an allocator, without time.
class Walk {
 public:
  Walk(const program::Program& program, std::int64_t capacity)
      : program_(program),
        allocator_(capacity),
        queues_(program.queues.size()),
        blocks_(program.buffers.size(), CachingAllocator::kNone) {}

  // Calls `after` whenever a buffer has come. False once there is no room for one.
  template <typename After>
  bool run(const After& after) {
    for (program::Index buffer : never_allocated())
      if (!allocate(buffer, 0, after)) return false;
    std::vector<std::size_t> next(program_.threads.size(), 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t thread = 0; thread < next.size(); ++thread) {
        const auto& commands = program_.threads[thread].commands;
        while (next[thread] < commands.size() && may_go_on(commands[next[thread]].action)) {
          if (!carry_out(commands[next[thread]++].action, after)) return false;
          moved = true;
        }
      }
    }
    return true;
  }

  std::vector<MemoryNeed::Holder> holders() const {
    std::vector<MemoryNeed::Holder> holders;
    for (program::Index buffer = 0; buffer < blocks_.size(); ++buffer)
      if (blocks_[buffer] != CachingAllocator::kNone)
        holders.push_back({buffer, allocator_.bytes_of(blocks_[buffer])});
    return holders;
  }
  const CachingAllocator::Statistics& statistics() const { return allocator_.statistics(); }

 private:
  // Whether the item that an action waits for has come; takes it.
  bool may_go_on(const program::Action& action) {
    const auto* pop = std::get_if<program::Pop>(&action);
    const auto* take = std::get_if<program::Take>(&action);
    if (!pop && !take) return true;
    std::deque<std::int64_t>& items = queues_[pop ? pop->queue : take->queue];
    const auto found = pop ? items.begin() : std::find(items.begin(), items.end(), take->item);
    if (found == items.end()) return false;
    items.erase(found);
    return true;
  }

  template <typename After>
  bool carry_out(const program::Action& action, const After& after) {
    if (const auto* push = std::get_if<program::Push>(&action))
      queues_[push->queue].push_back(push->item);
    if (const auto* free = std::get_if<program::Free>(&action)) give_back(free->buffer);
    if (std::holds_alternative<program::EmptyCache>(action)) allocator_.empty_cache(always);
    const auto* alloc = std::get_if<program::Alloc>(&action);
    return !alloc || allocate(alloc->buffer, alloc->stream, after);
  }

  // Those are there from the start. Views lie in another buffer's memory.
  std::vector<program::Index> never_allocated() const {
    std::vector<bool> comes(blocks_.size(), false);
    for (const program::Thread& thread : program_.threads)
      for (const program::Command& command : thread.commands)
        if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
          comes[alloc->buffer] = true;
    std::vector<program::Index> rest;
    for (program::Index buffer = 0; buffer < comes.size(); ++buffer) {
      const program::Buffer& one = program_.buffers[buffer];
      if (!comes[buffer] && !one.is_view && one.kind == program::MemoryKind::kDevice)
        rest.push_back(buffer);
    }
    return rest;
  }

  template <typename After>
  bool allocate(program::Index buffer, program::Index stream, const After& after) {
    const std::int64_t bytes = program_.buffers[buffer].bytes;
    auto block = allocator_.allocate(bytes, stream, buffer, always);
    if (!block) {
      allocator_.empty_cache(always);
      block = allocator_.retry(bytes, stream, buffer);
    }
    allocator_.take_actions(actions_);
    if (!block) return false;
    blocks_[buffer] = *block;
    after();
    return true;
  }

  void give_back(program::Index buffer) {
    if (blocks_[buffer] == CachingAllocator::kNone) return;
    allocator_.free(blocks_[buffer], {});
    blocks_[buffer] = CachingAllocator::kNone;
  }

  const program::Program& program_;
  CachingAllocator allocator_;
  std::vector<CachingAllocator::Action> actions_;  // nobody reads them
  std::vector<std::deque<std::int64_t>> queues_;
  std::vector<CachingAllocator::BlockId> blocks_;  // by buffer
};

}  // namespace

MemoryNeed memory_need(const program::Program& program) {
  MemoryNeed need;
  Walk walk(program, std::numeric_limits<std::int64_t>::max());
  walk.run([&] {
    if (walk.statistics().allocated <= need.allocated) return;
    need.allocated = walk.statistics().allocated;
    need.holders = walk.holders();
  });
  need.reserved = walk.statistics().peak_reserved;
  for (const MemoryNeed::Holder& holder : need.holders)
    need.by_role[static_cast<std::size_t>(program.buffers[holder.buffer].role)] += holder.bytes;
  std::ranges::stable_sort(need.holders, std::ranges::greater{}, &MemoryNeed::Holder::bytes);
  return need;
}

bool fits(const program::Program& program, std::int64_t capacity) {
  return Walk(program, capacity).run([] {});
}

std::int64_t largest_batch(const std::function<std::int64_t(std::int64_t)>& peak_of,
                           std::int64_t capacity, std::int64_t most) {
  const auto fit = [&](std::int64_t batch) { return peak_of(batch) <= capacity; };
  std::int64_t largest = 0, next = 1;  // of those that fit; the next to ask about
  while (next <= most && fit(next)) {
    largest = next;
    if (next == most) return most;
    next = next > most / 2 ? most : 2 * next;
  }
  std::int64_t too_large = std::min(next, most + 1);
  while (too_large - largest > 1) {
    const std::int64_t middle = largest + (too_large - largest) / 2;
    (fit(middle) ? largest : too_large) = middle;
  }
  return largest;
}

}  // namespace trainscope::analysis
