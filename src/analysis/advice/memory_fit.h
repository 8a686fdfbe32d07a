// How much device memory a program needs, of what, and what is the largest batch that fits.
//
// The need is worked out from the program alone, by carrying out its allocations and frees one
// after the other as the caching allocator would, without time: a thread goes on until it waits for
// an item of a queue, no step is skipped, and what other streams use is free at once. A run agrees
// with it exactly while no two threads allocate at the same time.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "program/program.h"

namespace trainscope::analysis {

struct MemoryNeed {
  struct Holder {
    program::Index buffer = 0;
    std::int64_t bytes = 0;  // of its block: rounded up as the allocator does
  };
  // When the most is allocated, the first time of several: what each role has of it, and which
  // buffers live, the largest first.
  std::int64_t allocated = 0;
  std::array<std::int64_t, program::kRoles> by_role{};
  std::vector<Holder> holders;
  // The most that the allocator holds at any time. More than a GPU's memory need not mean that the
  // run fails: what is cached is given back first.
  std::int64_t reserved = 0;
};

MemoryNeed memory_need(const program::Program& program);

// Whether a GPU with so many bytes carries the program out, what is cached given back as needed.
bool fits(const program::Program& program, std::int64_t capacity);

// The largest batch of 1 .. `most` whose peak is at most `capacity` bytes, by bisection; 0: not
// even 1 is. `peak_of` gives the peak in bytes of a batch, and grows with it. It is asked about 2
// log2(the answer) times.
std::int64_t largest_batch(const std::function<std::int64_t(std::int64_t)>& peak_of,
                           std::int64_t capacity, std::int64_t most);

}  // namespace trainscope::analysis
