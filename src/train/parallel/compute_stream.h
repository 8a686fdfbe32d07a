// The stream that a rank's program computes on: its first, the default stream.
#pragma once

#include "program/program.h"

namespace trainscope::train {

inline constexpr program::Index kComputeStream = 0;

}  // namespace trainscope::train
