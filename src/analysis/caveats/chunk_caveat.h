// Whether chunks that are to be followed are there at all.
#pragma once

#include <string>

#include "machine/machine.h"
#include "program/config.h"
#include "program/program.h"

namespace trainscope::analysis {

// That collective.expanded changes nothing, because NCCL's choice for every collective is NVLS,
// whose sums the switch makes; a sentence without its full stop. Empty: some have chunks, or none
// were asked for.
std::string chunk_caveat(const program::Config& config, const program::Program& program,
                         const machine::Machine& machine);

}  // namespace trainscope::analysis
