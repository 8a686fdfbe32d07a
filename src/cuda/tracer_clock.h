// A tracer's clock laid on the host's.
#pragma once

#include <cmath>

#include "base/time.h"

namespace trainscope::cuda {

// Both clocks, read at once.
struct ClockReading {
  Nanos theirs = 0;
  Nanos ours = 0;
};

// `theirs` and `ours` tell the time. Of several readings the one between whose two looks at our
// clock the least time lies: nothing came in between.
template <typename Theirs, typename Ours>
ClockReading read_together(const Theirs& theirs, const Ours& ours) {
  constexpr int kReadings = 50;  // some microseconds
  ClockReading best;
  Nanos least = -1;
  for (int i = 0; i < kReadings; ++i) {
    const Nanos before = ours(), there = theirs(), after = ours();
    if (least >= 0 && after - before >= least) continue;
    least = after - before;
    best = {there, before + least / 2};
  }
  return best;
}

// Our time by theirs: a straight line through two readings.
class ClockLine {
 public:
  // Both the same: as if there were none between.
  ClockLine() = default;
  ClockLine(const ClockReading& from, const ClockReading& to) : from_(from) {
    // Linux slews a clock by 500 ppm at most (adjtimex(2)), and quartz is off by less: what differs
    // by more was set meanwhile, or is the noise of two readings close to each other.
    constexpr double kMost = 1e-3;
    const auto there = static_cast<double>(to.theirs - from.theirs);
    const auto here = static_cast<double>(to.ours - from.ours);
    if (there > 0 && std::abs(here / there - 1) < kMost) rate_ = here / there;
  }

  Nanos ours(Nanos theirs) const {
    return from_.ours + std::llround(static_cast<double>(theirs - from_.theirs) * rate_);
  }

 private:
  ClockReading from_;
  double rate_ = 1;
};

}  // namespace trainscope::cuda
