// An hour: traces are of seconds, and what lies farther apart is of different clocks.
#pragma once

#include "base/time.h"

namespace trainscope::trace {

inline constexpr Nanos kHour = 3600 * kSecond;

}  // namespace trainscope::trace
