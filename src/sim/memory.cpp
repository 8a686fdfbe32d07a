#include "sim/memory.h"

#include <utility>

#include "base/error.h"

namespace trainscope::sim {
namespace {

constexpr std::uint32_t kNone = CachingAllocator::kNone;

bool never(CachingAllocator::EventId) {
  return false;
}

// The streams that the GPUs' memory is taken on before anything runs: the first of each, as a model
// is moved there.
std::vector<program::Index> first_streams(const program::Program& program, std::size_t gpus) {
  std::vector<program::Index> first(gpus, 0);
  for (std::size_t i = program.streams.size(); i-- > 0;)
    first[static_cast<std::size_t>(program.streams[i].device)] = static_cast<program::Index>(i);
  return first;
}

}  // namespace

Memory::Memory(const program::Program& program, int gpus, const Room& room, std::string gpu,
               Recorder& recorder)
    : program_(program),
      name_(std::move(gpu)),
      context_(room.context),
      recorder_(recorder),
      blocks_(program.buffers.size(), kNone),
      names_(program.buffers.size(), trace::kNone) {
  for (int number = 0; number < gpus; ++number) gpus_.emplace_back(number, room.capacity);
  for (std::size_t i = 0; i < role_names_.size(); ++i)
    role_names_[i] = recorder.name(program::name_of(static_cast<program::Role>(i)));
}

bool Memory::place_the_rest() {
  std::vector<bool> rest(program_.buffers.size());
  for (std::size_t i = 0; i < rest.size(); ++i)
    rest[i] =
        program_.buffers[i].kind == program::MemoryKind::kDevice && !program_.buffers[i].is_view;
  for (const program::Thread& thread : program_.threads)
    for (const program::Command& command : thread.commands)
      if (const auto* alloc = std::get_if<program::Alloc>(&command.action))
        rest[alloc->buffer] = false;
  const std::vector<program::Index> streams = first_streams(program_, gpus_.size());
  for (program::Index buffer = 0; buffer < rest.size(); ++buffer) {
    if (!rest[buffer]) continue;
    const auto gpu = static_cast<std::size_t>(program_.buffers[buffer].device);
    const program::Alloc alloc{buffer, streams[gpu]};
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
  Gpu& gpu = gpu_of(alloc.buffer);
  const std::int64_t segments = gpu.allocator.statistics().segments;
  const auto block = gpu.allocator.allocate(buffer.bytes, alloc.stream, alloc.buffer, is_done);
  const bool grown = gpu.allocator.statistics().segments > segments;
  if (block) {
    keep(now, alloc.buffer, *block);
  } else {
    write_events(now, gpu);
  }
  return !block ? Found::kNothing : grown ? Found::kSegment : Found::kCached;
}

std::int64_t Memory::empty_cache(Nanos now, int device, const CachingAllocator::IsDone& is_done) {
  Gpu& gpu = gpus_[static_cast<std::size_t>(device)];
  const std::int64_t segments = gpu.allocator.statistics().segments;
  gpu.allocator.empty_cache(is_done);
  write_events(now, gpu);
  write_counters(now, gpu, program::kNoIndex);
  return segments - gpu.allocator.statistics().segments;
}

bool Memory::retry(Nanos now, const program::Alloc& alloc) {
  const auto block =
      gpu_of(alloc.buffer)
          .allocator.retry(program_.buffers[alloc.buffer].bytes, alloc.stream, alloc.buffer);
  if (block) {
    keep(now, alloc.buffer, *block);
  } else {
    fail(now, alloc.buffer);
  }
  return block.has_value();
}

void Memory::keep(Nanos now, program::Index buffer, CachingAllocator::BlockId block) {
  Gpu& gpu = gpu_of(buffer);
  blocks_[buffer] = block;
  gpu.by_role[static_cast<std::size_t>(program_.buffers[buffer].role)] +=
      gpu.allocator.bytes_of(block);
  write_events(now, gpu);
  write_counters(now, gpu, buffer);
}

void Memory::fail(Nanos now, program::Index buffer) {
  Gpu& gpu = gpu_of(buffer);
  write_events(now, gpu);
  if (out_of_memory_) return;  // of another thread, at the same time
  const program::Buffer& one = program_.buffers[buffer];
  const CachingAllocator::Statistics& statistics = gpu.allocator.statistics();
  OutOfMemory why;
  why.gpu = gpus_.size() == 1 ? name_ : name_ + ", GPU " + std::to_string(one.device) + ",";
  why.buffer = one.name;
  why.role = one.role;
  why.time = now;
  why.requested = one.bytes;
  why.segment = CachingAllocator::segment_bytes(one.bytes);
  why.allocated = statistics.allocated;
  why.reserved = statistics.reserved;
  why.capacity = gpu.allocator.capacity();
  why.context = context_;
  why.holders = largest(one.device);
  out_of_memory_ = std::move(why);
}

std::vector<OutOfMemory::Holder> Memory::largest(int device) const {
  std::vector<OutOfMemory::Holder> holders;
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    if (const program::Buffer& one = program_.buffers[i];
        blocks_[i] != kNone && one.device == device)
      holders.push_back({one.name, one.role,
                         gpus_[static_cast<std::size_t>(device)].allocator.bytes_of(blocks_[i])});
  return largest_of(std::move(holders));
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
  gpu_of(record.buffer).allocator.record_stream(blocks_[record.buffer], record.stream);
}

const std::vector<CachingAllocator::StreamId>& Memory::other_streams(program::Index buffer) const {
  allocated_buffer(buffer, "frees");
  return gpu_of(buffer).allocator.other_streams(blocks_[buffer]);
}

void Memory::free(Nanos now, program::Index buffer,
                  const std::vector<CachingAllocator::EventId>& events) {
  const program::Buffer& one = allocated_buffer(buffer, "frees");
  Gpu& gpu = gpu_of(buffer);
  gpu.by_role[static_cast<std::size_t>(one.role)] -= gpu.allocator.bytes_of(blocks_[buffer]);
  gpu.allocator.free(blocks_[buffer], events);
  blocks_[buffer] = kNone;
  write_events(now, gpu);
  write_counters(now, gpu, buffer);
}

// ---- What the trace keeps ----------------------------------------------------------------------

// Segments are numbered through all GPUs.
void Memory::write_events(Nanos now, Gpu& gpu) {
  gpu.allocator.take_actions(actions_);
  const auto device = static_cast<std::uint32_t>(gpu.number);
  const auto gpus = static_cast<std::uint32_t>(gpus_.size());
  for (const CachingAllocator::Action& action : actions_) {
    trace::AllocatorEvent event;
    event.time = now;
    event.action = action.kind;
    event.segment = action.segment == kNone ? kNone : action.segment * gpus + device;
    event.offset = action.offset;
    event.bytes = action.bytes;
    event.requested = action.requested;
    event.device = static_cast<std::int32_t>(device);
    if (action.stream < program_.streams.size())
      event.stream = program_.streams[action.stream].number;
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
void Memory::write_counters(Nanos now, Gpu& gpu, program::Index buffer) {
  const Recorder::MemoryLanes& lanes = recorder_.memory_lanes(gpu.number);
  if (lanes.allocated == trace::kNone) return;
  const auto write = [&](trace::LaneId lane, std::int64_t value) {
    recorder_.trace().add_sample({now, static_cast<double>(value), lane});
  };
  const CachingAllocator::Statistics& statistics = gpu.allocator.statistics();
  if (statistics.reserved != gpu.reserved) write(lanes.reserved, statistics.reserved);
  gpu.reserved = statistics.reserved;
  if (buffer == program::kNoIndex) return;
  write(lanes.allocated, statistics.allocated);
  const auto role = static_cast<std::size_t>(program_.buffers[buffer].role);
  write(lanes.roles[role], gpu.by_role[role]);
}

}  // namespace trainscope::sim
