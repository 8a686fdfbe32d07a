// What the ranks of a run do beside one another: who the others wait for.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// Times are those of a step.
struct RankTimes {
  std::int32_t rank = 0;
  double busy = 0;  // ns; its GPU at work
  double wait = 0;  // ns; its GPU waits for the last rank of a collective
  double idle = 0;  // ns; of that wait, with nothing of its GPU at work beside it
};

// Of each rank that the trace has, by its own steps, which may be fewer than the first rank's; one
// that has none of the measured steps is left out. Empty where the trace has one rank, or none
// waits for another.
std::vector<RankTimes> rank_times(const Measured& measured);

}  // namespace trainscope::analysis
