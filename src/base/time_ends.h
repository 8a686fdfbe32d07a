// The times at both ends of all others: where there is no earlier or later one to tell.
#pragma once

#include <limits>

#include "base/time.h"

namespace trainscope {

inline constexpr Nanos kBeforeAll = std::numeric_limits<Nanos>::min();
inline constexpr Nanos kEndless = std::numeric_limits<Nanos>::max();

}  // namespace trainscope
