// The workload `copy` there and back.
#pragma once

#include "program/config.h"
#include "program/program.h"

namespace trainscope::train {

// Of a config whose copy.direction is round_trip. Throws InputError for bytes that are no whole
// FP32 numbers.
program::Program build_round_trip(const program::Config& config);

}  // namespace trainscope::train
