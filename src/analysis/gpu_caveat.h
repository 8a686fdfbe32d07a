// A run that asks for work of many GPUs, and of one.
#pragma once

#include <string>

#include "machine/machine.h"
#include "program/config.h"

namespace trainscope::analysis {

// That only one of the machine's GPUs works though a parallel strategy was set, or that a machine
// of one GPU has nobody for a collective; a sentence without its full stop. Empty where neither is
// so.
std::string gpu_caveat(const program::Config& config, const machine::Machine& machine);

}  // namespace trainscope::analysis
