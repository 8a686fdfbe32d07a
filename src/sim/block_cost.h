// What a kernel's blocks cost on the SMs of a GPU, in the units of sm_array.h.
#pragma once

#include <optional>

#include "machine/machine.h"
#include "machine/occupancy.h"
#include "machine/roofline.h"
#include "program/program.h"
#include "sim/sm_array.h"

namespace trainscope::sim {

// How the operation is launched.
machine::LaunchShape launch_shape(const program::Operation& operation, const machine::Gpu& gpu);

// Rounded up to whole units. `l2_hits`: the share of its traffic that L2 serves; nothing: as its
// footprint has it. Throws InputError for what CUDA would not launch, and for a block that would
// take hours.
//
// A kernel of a given length takes it on the SMs that its blocks fill: each has an equal part of
// the SM's time for itself. Where others want the same SMs, all take longer.
BlockCost block_cost(const program::Operation& operation, const machine::Gpu& gpu,
                     std::optional<double> l2_hits = std::nullopt);

// One launch of it for the roofline (kernel_model.h), with what a GPU that is full of its blocks
// has in flight.
machine::KernelWork work_in_flight(const program::Operation& operation, const machine::Gpu& gpu);

// Of a GPU on which everything takes so many times as long.
BlockCost slowed(BlockCost cost, double slowness);

}  // namespace trainscope::sim
