// What collectives find in a rank's memory: the numbers that it gives, and where it gets some, in
// one piece.
//
// A payload of one buffer is that piece. Of several, as DistributedDataParallel's broadcast of all
// parameters has it, or of none, as a benchmark's, it lies in a room of the rank's stream, and is
// copied there and back, as PyTorch flattens such lists too. What a rank gives to an all-gather,
// and gets of a reduce-scatter, is its part of the piece that all of it makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/buffers.h"
#include "cuda/device_calls.h"
#include "cuda/meetings.h"
#include "program/program.h"

namespace trainscope::cuda {

// Of the numbers that a collective of such units adds.
program::ElementType type_of(CollectiveUnit unit);

// A part of a buffer beside the part of the piece that stands for it. Its numbers may have another
// type there, as FSDP gathers them: then they are cast.
struct PieceCopy {
  Operand buffer;
  Operand piece;
  std::int64_t bytes = 0;  // where the types are the same
};

struct RankMemory {
  CollectiveUnit unit = CollectiveUnit::kFloat;
  std::int64_t units = 0;  // of the piece
  std::byte* piece = nullptr;
  std::byte* room = nullptr;      // for a chunk that is to be added
  std::vector<PieceCopy> before;  // buffers to piece
  std::vector<PieceCopy> after;   // piece to buffers
};

class CollectiveMemory {
 public:
  // Takes room for each stream that has collectives. All must outlive it. Throws OutOfDeviceMemory,
  // and an internal Error where numbers of several types are to be added.
  CollectiveMemory(const program::Program& program, DeviceCalls& device, Buffers& buffers,
                   const std::vector<StreamHandle>& streams);
  ~CollectiveMemory();
  CollectiveMemory(const CollectiveMemory&) = delete;

  RankMemory of(const RankCall& call);
  // Of a payload of one buffer, as ranks send and receive it.
  void* at(program::Index payload);

 private:
  struct Room {
    std::int64_t piece = 0;  // bytes
    std::int64_t chunk = 0;
    std::byte* memory = nullptr;
  };
  std::vector<program::Index> numbers_of(program::Index payload) const;
  // What the collective counts: numbers of its payload, else FP32.
  CollectiveUnit unit_of(const program::Collective& collective) const;
  program::Index larger_payload(const program::Collective& collective) const;
  std::int64_t bytes_of(const program::Collective& collective) const;

  const program::Program& program_;
  DeviceCalls& device_;
  Buffers& buffers_;
  const std::vector<StreamHandle>& streams_;
  std::vector<Room> rooms_;  // by stream
};

}  // namespace trainscope::cuda
