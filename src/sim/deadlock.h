// Says why a program stands still: who waits for whom, with the lines of the listing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/program.h"

namespace trainscope::sim {

// Where the threads of a program stand when none of them can go on.
struct Standstill {
  std::vector<std::size_t> next;           // by thread: its command; past the last: it is done
  std::vector<std::uint32_t> lock_owners;  // by lock: a thread, or UINT32_MAX
};

// A sentence without its first words: names a cycle of waits, a queue that nothing fills or
// empties, or else every thread that waits.
std::string explain(const Standstill& standstill, const program::Program& program);

}  // namespace trainscope::sim
