#include "analysis/views/collective_progress.h"

#include <algorithm>

namespace trainscope::analysis {
namespace {

int modulo(int value, int n) {
  return ((value % n) + n) % n;
}

}  // namespace

int ring_steps(int ranks) {
  return 2 * (ranks - 1);
}

RingMoment ring_moment(int ranks, double share) {
  const int steps = ring_steps(ranks);
  const double at = std::clamp(share, 0.0, 1.0) * steps;
  const int step = std::min(steps, static_cast<int>(at));
  return {step, at - step};
}

int part_sent(int ranks, int step, int place) {
  const bool sums = step < ranks - 1;
  return modulo(sums ? place - step : place + 1 - (step - (ranks - 1)), ranks);
}

int ranks_summed(int ranks, int steps_over, int place, int part) {
  // In step k a place gets what its neighbour before it sends then.
  const int added_in = modulo(place - 1 - part, ranks);
  const int gathered_in = ranks - 1 + modulo(place - part, ranks);
  if (gathered_in < ring_steps(ranks) && gathered_in < steps_over) return ranks;
  return added_in < std::min(steps_over, ranks - 1) ? added_in + 2 : 1;
}

}  // namespace trainscope::analysis
