// To wait for what nothing wakes a thread for.
#pragma once

#include <sys/prctl.h>

#include <chrono>
#include <thread>

namespace trainscope::cuda {

// From here on the calling thread sleeps no longer than it asks for: Linux adds 50 us otherwise, to
// wake several threads at once (prctl(2), PR_SET_TIMERSLACK).
inline void sleep_exactly() {
  thread_local const bool is_set = prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL) == 0;
  static_cast<void>(is_set);
}

// Looks until it has come: at first without a pause, since most of what a step waits for takes
// microseconds; then every so often, and before each pause `meanwhile` is called, which may throw.
template <typename HasCome, typename Meanwhile>
void poll(const HasCome& has_come, const Meanwhile& meanwhile) {
  constexpr std::chrono::microseconds kAtOnce{50};
  constexpr std::chrono::microseconds kPause{20};
  const auto end = std::chrono::steady_clock::now() + kAtOnce;
  do {
    if (has_come()) return;
  } while (std::chrono::steady_clock::now() < end);
  sleep_exactly();
  while (!has_come()) {
    meanwhile();
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace trainscope::cuda
