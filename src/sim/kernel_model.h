// How much of a GPU a kernel needs: the first, simple model.
//
// A kernel is a task on two shared rates, arithmetic and device memory, and has a shortest time.
// It is done when all three are. README.md has the formulas and their sources.
#pragma once

#include "machine/machine.h"
#include "machine/roofline.h"
#include "program/program.h"

namespace trainscope::sim {

struct KernelNeeds {
  double arithmetic_ns = 0;     // at the whole GPU's rate for its type
  double arithmetic_share = 1;  // of the SMs that its blocks can use, 0..1
  double memory_ns = 0;         // at the whole memory bandwidth
  Nanos floor_ns = 0;
};

// Blocks of the kernel's grid. A matrix product with fewer tiles than the GPU has SMs is cut along
// k too (split-K), as cuBLAS and cuDNN do: the gradient of a convolution's weights has few tiles
// and sums over all pixels.
std::int64_t grid_blocks(const program::Operation& operation, const machine::Gpu& gpu);

// The unit that its arithmetic runs on.
machine::Math math_of(const program::Operation& operation, const machine::Gpu& gpu);

// One launch of it, for the roofline.
machine::KernelWork kernel_work(const program::Operation& operation, const machine::Gpu& gpu);

KernelNeeds kernel_needs(const program::Operation& operation, const machine::Gpu& gpu);

// Host time of a framework operator, its CUDA call excluded. `profile` is the knob host.profile.
Nanos operator_cost(const std::string& profile, const machine::Host& host);

}  // namespace trainscope::sim
