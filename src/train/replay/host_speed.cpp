#include "train/replay/host_speed.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace trainscope::train {

Nanos at_host_speed(Nanos stretch, double speed) {
  // Assumed. From Python to its launch an operator takes 5 to 20 us (the host profile
  // pytorch-eager), under a profiler some times that: nothing of it is as long as this.
  constexpr Nanos kLongest = kMillisecond;
  return stretch > kLongest ? stretch : std::llround(static_cast<double>(stretch) / speed);
}

bool asks_for_memory(std::string_view call) {
  constexpr std::array kWords{"Malloc", "Free", "HostAlloc"};
  return std::ranges::any_of(
      kWords, [&](const char* word) { return call.find(word) != std::string_view::npos; });
}

}  // namespace trainscope::train
