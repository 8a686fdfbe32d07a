// How long a grid of blocks takes that differ in length: the last ones end unevenly. README.md of
// src/sim has what it is for, and what was measured beside it.
#pragma once

#include <cstdint>
#include <span>

namespace trainscope::machine {

struct SmPlaces {
  std::int64_t sms = 1;
  std::int64_t blocks_each = 1;  // that an SM holds at once; they share it equally
};

// Of `repeats` times these blocks, one row of them after the other, each on the SM that first has
// room for it. A length is the time of a block that has its SM to itself, the result in the same
// unit. From a few thousand blocks on, what more of them add is taken to be spread evenly.
double grid_time(std::span<const double> lengths, std::int64_t repeats, const SmPlaces& places);

}  // namespace trainscope::machine
