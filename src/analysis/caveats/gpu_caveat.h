// A run that asks of its GPUs what they do not do.
#pragma once

#include <string>

#include "machine/machine.h"
#include "program/config.h"

namespace trainscope::analysis {

// That only one of the machine's GPUs works though a parallel strategy was set, that a machine of
// one GPU has nobody for a collective, that the GPU has no TF32, or PyTorch no flash kernel for it
// or for the type, that its L2 is not known, or what of torch.compile's memory is not; a sentence
// without its full stop. Empty where nothing of it is so.
std::string gpu_caveat(const program::Config& config, const machine::Machine& machine);

}  // namespace trainscope::analysis
