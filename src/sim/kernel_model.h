// What a kernel does, from what its operation tells: the unit that it computes on, its grid, what
// each of its blocks has to do. README.md has the rules and their sources.
#pragma once

#include "machine/machine.h"
#include "machine/roofline.h"
#include "program/program.h"

namespace trainscope::sim {

// Blocks of the kernel's grid. A matrix product with fewer tiles than the GPU has SMs is cut along
// k too (split-K), as cuBLAS and cuDNN do: the gradient of a convolution's weights has few tiles
// and sums over all pixels.
std::int64_t grid_blocks(const program::Operation& operation, const machine::Gpu& gpu);

// One launch of it, for the roofline.
machine::KernelWork kernel_work(const program::Operation& operation, const machine::Gpu& gpu);

// What each of its blocks does: as the operation says, else an equal part of the whole, with as
// many loads in flight as memory wants and 32 registers a thread. Not of a given length.
program::BlockWork block_work(const program::Operation& operation, const machine::Gpu& gpu);

// The shortest time that it takes, however little it does.
Nanos kernel_floor(const program::Operation& operation, const machine::Gpu& gpu);

// Host time of a framework operator, its CUDA call excluded. `profile` is the knob host.profile.
Nanos operator_cost(const std::string& profile, const machine::Host& host);

}  // namespace trainscope::sim
