// The memory that cuBLAS works in, which PyTorch takes from the caching allocator: one buffer for
// each handle and stream, before the first product there, and never given back ("cuBLAS workspaces"
// in PyTorch's notes on CUDA semantics). Each host thread has a handle of its own
// (aten/src/ATen/cuda/detail/DeviceThreadHandles.h), so training has two: forward's, and that of
// autograd's thread. Products with a bias, through cuBLASLt, share it (pytorch#168175).
#pragma once

#include <cstdint>

#include "machine/machine.h"
#include "program/program.h"

namespace trainscope::train {

// Bytes of one, where CUBLAS_WORKSPACE_CONFIG is not set.
std::int64_t cublas_workspace_bytes(const machine::Gpu& gpu);

// Adds the buffers to a program that is written otherwise, and where each thread allocates its own.
// No product may stand among the commands that a branch skips.
void add_cublas_workspaces(program::Program& program, const machine::Gpu& gpu);

}  // namespace trainscope::train
