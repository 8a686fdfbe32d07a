#include "train/replay/host_speed.h"

#include <cmath>

namespace trainscope::train {

Nanos at_host_speed(Nanos stretch, double speed) {
  // Assumed. From Python to its launch an operator takes 5 to 20 us (the host profile
  // pytorch-eager), under a profiler some times that, and a thread may wait for the interpreter's
  // lock while others do: nothing of it is as long as this.
  constexpr Nanos kLongest = 10 * kMillisecond;
  return stretch > kLongest ? stretch : std::llround(static_cast<double>(stretch) / speed);
}

}  // namespace trainscope::train
