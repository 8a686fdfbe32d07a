// Watches for device memory that a copy overwrites while work on another stream still reads it:
// what Tensor.record_stream prevents. The allocator hands a freed block out again on the stream it
// was made on, at once, on host time; it knows of other streams only by record_stream.
#pragma once

#include <utility>
#include <vector>

#include "program/program.h"
#include "sim/caching_allocator.h"
#include "sim/device.h"

namespace trainscope::sim {

class ReuseWatch {
 public:
  // With one stream there is nothing to watch for.
  explicit ReuseWatch(const program::Program& program);

  void allocated(program::Index buffer, program::Index stream, CachingAllocator::Place place);
  // `op` on `stream` reads or writes these buffers.
  void used(const std::vector<program::Index>& buffers, program::Index stream, OpId op);
  void freed(program::Index buffer, CachingAllocator::Place place);
  // `copy` fills the buffer.
  void filled(program::Index buffer, OpId copy);

  // A copy into memory that `reader` had not been known to be done with: a fault if it began before
  // the reader's end.
  struct Suspect {
    OpId copy = kNoOp;
    OpId reader = kNoOp;
    program::Index buffer = 0;  // that is filled
  };
  // Those since it was last asked.
  std::vector<Suspect> take_suspects() { return std::exchange(suspects_, {}); }

 private:
  struct Left {  // freed memory, and the last work on another stream that used it
    int device = 0;
    CachingAllocator::Place place;
    OpId reader = kNoOp;
  };
  struct State {
    program::Index stream = program::kNoIndex;  // that it was allocated on
    OpId reader = kNoOp;                        // the last on another stream
    OpId left_to = kNoOp;                       // the last reader of what its memory held before
  };

  const program::Program& program_;
  bool watches_;
  std::vector<State> states_;  // by buffer
  std::vector<Left> left_;
  std::vector<Suspect> suspects_;
};

}  // namespace trainscope::sim
