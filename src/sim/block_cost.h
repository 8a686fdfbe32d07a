// What a kernel's blocks cost on the SMs of a GPU, in the units of sm_array.h.
#pragma once

#include "machine/machine.h"
#include "machine/occupancy.h"
#include "program/program.h"
#include "sim/sm_array.h"

namespace trainscope::sim {

// How the operation is launched. It must have block work.
machine::LaunchShape launch_shape(const program::Operation& operation);

// Rounded up to whole units. Throws InputError for what CUDA would not launch, and for a block that
// would take hours.
BlockCost block_cost(const program::Operation& operation, const machine::Gpu& gpu);

}  // namespace trainscope::sim
