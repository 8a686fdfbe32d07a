// How much of a recorded collective is wait for ranks whose traces are not here.
#pragma once

#include <vector>

#include "program/recorded.h"

namespace trainscope::train {

// By work: what its collective took beyond the shortest of those that are like it (operation, type,
// sizes, process group), which is at least a wait for the last rank. Of several ranks that are
// here, beyond what they wait for one another. 0 for all other work, and for collectives whose
// ranks are all here: their duration has no wait in it.
std::vector<Nanos> waits_of_ranks(const program::Recording& recording);

}  // namespace trainscope::train
