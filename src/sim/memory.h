// Device memory of a run: the program's buffers in the caching allocator of each GPU, and what of
// it the trace keeps: counters, in all and by role, and every action of the allocators.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "program/program.h"
#include "sim/caching_allocator.h"
#include "sim/out_of_memory.h"
#include "sim/recorder.h"

namespace trainscope::sim {

class Memory {
 public:
  // Bytes of each GPU.
  struct Room {
    std::int64_t capacity = 0;  // for the allocator
    std::int64_t context = 0;   // that CUDA has taken before
  };
  Memory(const program::Program& program, int gpus, const Room& room, std::string gpu,
         Recorder& recorder);

  // Buffers of the device that no command allocates are there from the start. False when there is
  // no room for one.
  bool place_the_rest();

  enum class Found { kCached, kSegment, kNothing };
  // The first attempt. Throws InputError when the buffer is allocated already.
  Found allocate(Nanos now, const program::Alloc& alloc, const CachingAllocator::IsDone& is_done);
  // Whether waiting for the GPU and giving back segments could help.
  bool has_cache(int gpu) const {
    return gpus_[static_cast<std::size_t>(gpu)].allocator.has_cache();
  }
  // Returns how many segments went back.
  std::int64_t empty_cache(Nanos now, int gpu, const CachingAllocator::IsDone& is_done);
  // The last attempt. After a failure, out_of_memory() says why.
  bool retry(Nanos now, const program::Alloc& alloc);

  void record_stream(const program::RecordStream& record);
  // Other streams that use the buffer. Throws InputError when it is not allocated.
  const std::vector<CachingAllocator::StreamId>& other_streams(program::Index buffer) const;
  // Where an allocated buffer lies.
  CachingAllocator::Place place_of(program::Index buffer) const {
    return gpu_of(buffer).allocator.place_of(blocks_[buffer]);
  }
  // `events`: one recorded on each of the other streams.
  void free(Nanos now, program::Index buffer, const std::vector<CachingAllocator::EventId>& events);

  const std::optional<OutOfMemory>& out_of_memory() const { return out_of_memory_; }
  // When the failed call returned, and of which line it was.
  void end_at(Nanos now, std::uint16_t line) {
    out_of_memory_->time = now;
    out_of_memory_->line = line;
  }

 private:
  struct Gpu {
    Gpu(int gpu, std::int64_t capacity) : number(gpu), allocator(capacity) {}
    int number;
    CachingAllocator allocator;
    std::array<std::int64_t, program::kRoles> by_role{};
    std::int64_t reserved = 0;  // as written last
  };
  // That a buffer lies on.
  Gpu& gpu_of(program::Index buffer) {
    return gpus_[static_cast<std::size_t>(program_.buffers[buffer].device)];
  }
  const Gpu& gpu_of(program::Index buffer) const {
    return gpus_[static_cast<std::size_t>(program_.buffers[buffer].device)];
  }

  void keep(Nanos now, program::Index buffer, CachingAllocator::BlockId block);
  void fail(Nanos now, program::Index buffer);
  void write_events(Nanos now, Gpu& gpu);
  void write_counters(Nanos now, Gpu& gpu, program::Index buffer);
  std::vector<OutOfMemory::Holder> largest(int device) const;
  const program::Buffer& allocated_buffer(program::Index buffer, const char* what) const;

  const program::Program& program_;
  std::string name_;      // of the kind of GPU
  std::int64_t context_;  // of each
  Recorder& recorder_;
  std::deque<Gpu> gpus_;                           // which cannot be copied
  std::vector<CachingAllocator::BlockId> blocks_;  // by buffer
  std::vector<trace::NameId> names_;               // by buffer, once they are used
  std::array<trace::NameId, program::kRoles> role_names_;
  std::vector<CachingAllocator::Action> actions_;  // room for those of one call
  std::optional<OutOfMemory> out_of_memory_;
};

}  // namespace trainscope::sim
