// The memory of a program's buffers on a device and on the host.
//
// Device buffers that the program allocates itself come and go with its commands; all others are
// there from the start. What a buffer holds before the program begins is put there when it first
// has memory; results of operations are not, for they are written before they are read. Host memory
// that a batch is loaded into is new for each batch while an earlier copy out of it may still be
// under way, as PyTorch's allocator of pinned memory has it.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/contents.h"
#include "cuda/device_calls.h"
#include "program/program.h"
#include "sim/out_of_memory.h"

namespace trainscope::cuda {

// A change of the bytes that a program has allocated.
struct MemoryChange {
  Nanos time = 0;
  int gpu = 0;
  program::Role role = program::Role::kWorkspace;
  std::int64_t bytes = 0;  // negative: given back
};

class Buffers {
 public:
  // Takes the memory that is there from the start and fills it, on the program's streams. Throws
  // OutOfDeviceMemory.
  Buffers(const program::Program& program, DeviceCalls& device,
          const std::vector<StreamHandle>& streams);
  ~Buffers();
  Buffers(const Buffers&) = delete;

  // Where a buffer lies now; null: nowhere.
  void* at(program::Index buffer) const {
    return places_[buffer].memory ? places_[buffer].memory : places_[buffer].lent;
  }
  // Memory for what no command of the program gives memory to where it is used: within a graph, or
  // between two parts of a fused kernel. It stays, so that a graph finds it at every launch.
  void lend(program::Index buffer);
  // From here on the buffer is a part of another.
  void view(const program::View& action);
  Operand operand(program::Index buffer) const;

  // Whether allocate() also fills the memory: with what is there before it is first used.
  bool fills(const program::Alloc& action) const;
  void allocate(const program::Alloc& action);
  void free(program::Index buffer);
  // Another stream uses it too: the memory goes back once that has done what it has been given.
  void record_stream(const program::RecordStream& action);

  // Before a batch is written: memory that no copy reads any more.
  void renew(program::Index buffer);
  // Whether the batch lies in its host buffers already, as where all steps take the same one.
  bool holds(const program::LoadBatch& load) const;
  void note_loaded(const program::LoadBatch& load);
  // After a copy out of it was put on a stream.
  void was_read(program::Index buffer, program::Index stream);

  std::vector<MemoryChange> changes() const;

  // The first stream of a buffer's GPU.
  program::Index first_of(program::Index buffer) const {
    return first_[static_cast<std::size_t>(program_.buffers[buffer].device)];
  }

 private:
  struct Slot {
    void* memory = nullptr;
    EventHandle event = 0;
    bool has_event = false;
    bool read = false;  // by a copy that the event stands behind
  };
  struct Place {
    void* memory = nullptr;
    void* lent = nullptr;
    program::Index stream = 0;
    std::vector<program::Index> users;  // other streams
    std::vector<Slot> slots;            // of host memory
    std::size_t slot = 0;
    bool is_view = false;     // its memory is another buffer's
    bool filled = false;      // with what it holds before the program begins
    std::int64_t batch = -1;  // that was loaded last
    bool is_test = false;     // of the test set
  };

  void place_all();
  void release_all();
  void place(program::Index buffer);
  void fill(program::Index buffer, StreamHandle stream);
  // From the device. Throws OutOfDeviceMemory, with what asked for it and who holds most.
  void* take(program::Index buffer, StreamHandle stream);
  std::vector<sim::OutOfMemory::Holder> largest(int gpu) const;
  void note(program::Index buffer, std::int64_t sign);

  const program::Program& program_;
  DeviceCalls& device_;
  const std::vector<StreamHandle>& streams_;
  const Contents contents_;
  static constexpr program::Index kNone = program::kNoIndex;
  std::vector<program::Index> first_;  // streams, by GPU
  mutable std::mutex mutex_;
  std::vector<Place> places_;
  std::vector<MemoryChange> changes_;
  std::vector<bool> is_used_;        // by something that computes or moves it
  std::vector<EventHandle> handed_;  // by stream: records what users have been given
  std::vector<char> has_event_;      // no bits: each stream is its own rank's
};

}  // namespace trainscope::cuda
