// The types that a training step computes in, of the knobs that name them.
#pragma once

#include "machine/machine.h"
#include "program/config.h"
#include "train/tape.h"

namespace trainscope::train {

struct ModelTypes {
  Precision computed;
  // What the optimizer updates: with FSDP the model may compute with copies in another type.
  program::ElementType parameters = program::ElementType::kFp32;
};

// Throws InputError for types that contradict one another, or that the GPU has no units for.
ModelTypes model_types(const program::Config& config, const machine::Machine& machine);

}  // namespace trainscope::train
