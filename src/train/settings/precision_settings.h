// The types that a training step computes in, of the knobs that name them.
#pragma once

#include <cstdint>

#include "machine/machine.h"
#include "program/config.h"
#include "train/autograd/tape.h"

namespace trainscope::train {

struct ModelTypes {
  Precision computed;
  // What the optimizer updates: with FSDP the model may compute with copies in another type.
  program::ElementType parameters = program::ElementType::kFp32;
};

// Throws InputError for types that contradict one another, or that the GPU has no units for.
ModelTypes model_types(const program::Config& config, const machine::Machine& machine);

// Throws InputError where the GPU has no units for BF16, with what to set instead.
void refuse_bf16_without_units(const machine::Gpu& gpu, const char* instead);

// Whether PyTorch's scaled_dot_product_attention has its flash kernel there, in the type that these
// settings compute it in; else its memory-efficient one takes its place.
enum class FlashKernel : std::uint8_t { kRuns, kNotForType, kNotForGpu };
FlashKernel flash_kernel(const Precision& precision, const machine::Gpu& gpu);

}  // namespace trainscope::train
