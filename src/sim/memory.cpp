#include "sim/memory.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainscope::sim {
namespace {

constexpr std::uint32_t kNone = CachingAllocator::kNone;

bool never(CachingAllocator::EventId) {
  return false;
}

}  // namespace

Memory::Memory(const program::Program& program, std::int64_t capacity, std::string gpu,
               Recorder& recorder)
    : program_(program),
      gpu_(std::move(gpu)),
      recorder_(recorder),
      allocator_(capacity),
      blocks_(program.buffers.size(), kNone),
      names_(program.buffers.size(), trace::kNone) {
  for (std::size_t i = 0; i < role_names_.size(); ++i)
    role_names_[i] = recorder.name(program::name_of(static_cast<program::Role>(i)));
}

bool Memory::place_the_rest() {
  std::vector<bool> rest(program_.buffers.size());
  for (std::size_t i = 0; i < rest.size(); ++i)
    rest[i] = program_.buffers[i].kind == program::MemoryKind::kDevice;
  for (const program::Thread& thread : program_.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
        rest[alloc->buffer] = false;
  for (program::Index buffer = 0; buffer < rest.size(); ++buffer) {
    if (!rest[buffer]) continue;
    const program::Alloc alloc{buffer, 0};
    if (allocate(0, alloc, never) == Found::kNothing && !retry(0, alloc)) return false;
  }
  return true;
}

// ---- Allocating --------------------------------------------------------------------------------

Memory::Found Memory::allocate(Nanos now, const program::Alloc& alloc,
                               const CachingAllocator::IsDone& is_done) {
  const program::Buffer& buffer = program_.buffers[alloc.buffer];
  if (blocks_[alloc.buffer] != kNone)
    throw InputError("the program allocates " + buffer.name + " twice");
  const std::int64_t segments = allocator_.statistics().segments;
  const auto block = allocator_.allocate(buffer.bytes, alloc.stream, alloc.buffer, is_done);
  const bool grown = allocator_.statistics().segments > segments;
  if (block) {
    keep(now, alloc.buffer, *block);
  } else {
    write_events(now);
  }
  return !block ? Found::kNothing : grown ? Found::kSegment : Found::kCached;
}

std::int64_t Memory::empty_cache(Nanos now, const CachingAllocator::IsDone& is_done) {
  const std::int64_t segments = allocator_.statistics().segments;
  allocator_.empty_cache(is_done);
  write_events(now);
  write_counters(now, program::kNoIndex);
  return segments - allocator_.statistics().segments;
}

bool Memory::retry(Nanos now, const program::Alloc& alloc) {
  const auto block =
      allocator_.retry(program_.buffers[alloc.buffer].bytes, alloc.stream, alloc.buffer);
  if (block) {
    keep(now, alloc.buffer, *block);
  } else {
    fail(now, alloc.buffer);
  }
  return block.has_value();
}

void Memory::keep(Nanos now, program::Index buffer, CachingAllocator::BlockId block) {
  blocks_[buffer] = block;
  by_role_[static_cast<std::size_t>(program_.buffers[buffer].role)] += allocator_.bytes_of(block);
  write_events(now);
  write_counters(now, buffer);
}

void Memory::fail(Nanos now, program::Index buffer) {
  write_events(now);
  if (out_of_memory_) return;  // of another thread, at the same time
  const program::Buffer& one = program_.buffers[buffer];
  const CachingAllocator::Statistics& statistics = allocator_.statistics();
  OutOfMemory why;
  why.gpu = gpu_;
  why.buffer = one.name;
  why.role = one.role;
  why.time = now;
  why.requested = one.bytes;
  why.segment = CachingAllocator::segment_bytes(one.bytes);
  why.allocated = statistics.allocated;
  why.reserved = statistics.reserved;
  why.capacity = allocator_.capacity();
  why.holders = largest();
  out_of_memory_ = std::move(why);
}

std::vector<OutOfMemory::Holder> Memory::largest() const {
  constexpr std::size_t kMost = 5;
  std::vector<OutOfMemory::Holder> holders;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (blocks_[i] != kNone)
      holders.push_back(
          {program_.buffers[i].name, program_.buffers[i].role, allocator_.bytes_of(blocks_[i])});
  std::stable_sort(holders.begin(), holders.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  holders.resize(std::min(holders.size(), kMost));
  return holders;
}

// ---- Freeing -----------------------------------------------------------------------------------

const program::Buffer& Memory::allocated_buffer(program::Index buffer, const char* what) const {
  const program::Buffer& one = program_.buffers[buffer];
  if (blocks_[buffer] == kNone)
    throw InputError("the program " + std::string(what) + " " + one.name +
                     ", which is not allocated");
  return one;
}

void Memory::record_stream(const program::RecordStream& record) {
  allocated_buffer(record.buffer, "records a stream for");
  allocator_.record_stream(blocks_[record.buffer], record.stream);
}

const std::vector<CachingAllocator::StreamId>& Memory::other_streams(program::Index buffer) const {
  allocated_buffer(buffer, "frees");
  return allocator_.other_streams(blocks_[buffer]);
}

void Memory::free(Nanos now, program::Index buffer,
                  const std::vector<CachingAllocator::EventId>& events) {
  const program::Buffer& one = allocated_buffer(buffer, "frees");
  by_role_[static_cast<std::size_t>(one.role)] -= allocator_.bytes_of(blocks_[buffer]);
  allocator_.free(blocks_[buffer], events);
  blocks_[buffer] = kNone;
  write_events(now);
  write_counters(now, buffer);
}

// ---- What the trace keeps ----------------------------------------------------------------------

void Memory::write_events(Nanos now) {
  allocator_.take_actions(actions_);
  for (const CachingAllocator::Action& action : actions_) {
    trace::AllocatorEvent event;
    event.time = now;
    event.action = action.kind;
    event.segment = action.segment;
    event.offset = action.offset;
    event.bytes = action.bytes;
    event.requested = action.requested;
    if (action.stream < program_.streams.size()) {
      event.stream = program_.streams[action.stream].number;
      event.device = program_.streams[action.stream].device;
    }
    if (action.owner != kNone) {
      const program::Buffer& buffer = program_.buffers[action.owner];
      trace::NameId& name = names_[action.owner];
      if (name == trace::kNone) name = recorder_.name(std::string_view(buffer.name));
      event.owner = name;
      event.role = role_names_[static_cast<std::size_t>(buffer.role)];
    }
    recorder_.trace().add_allocator_event(event);
  }
}

// `buffer`: the one that came or went; kNoIndex: none did.
void Memory::write_counters(Nanos now, program::Index buffer) {
  if (recorder_.allocated_lane() == trace::kNone) return;
  const auto write = [&](trace::LaneId lane, std::int64_t value) {
    recorder_.trace().add_sample({now, static_cast<double>(value), lane});
  };
  const CachingAllocator::Statistics& statistics = allocator_.statistics();
  if (statistics.reserved != reserved_) write(recorder_.reserved_lane(), statistics.reserved);
  reserved_ = statistics.reserved;
  if (buffer == program::kNoIndex) return;
  write(recorder_.allocated_lane(), statistics.allocated);
  const program::Role role = program_.buffers[buffer].role;
  write(recorder_.role_lane(role), by_role_[static_cast<std::size_t>(role)]);
}

}  // namespace trainscope::sim
