// The one type of time in Trainscope: whole nanoseconds since the start of a run.
#pragma once

#include <cstdint>

namespace trainscope {

using Nanos = std::int64_t;

inline constexpr Nanos kMicrosecond = 1'000;
inline constexpr Nanos kMillisecond = 1'000'000;
inline constexpr Nanos kSecond = 1'000'000'000;

}  // namespace trainscope
