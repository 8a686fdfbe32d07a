// What the origins of ranks that are merged say of them.
#pragma once

#include <string>
#include <vector>

#include "trace/trace.h"

namespace trainscope::trace {

// What the origins of other ranks say and the first one's does not, each once, by who says it:
// ", rank 2: no CUPTI". Empty where all say the same.
std::string notes_of_others(const std::vector<const Trace*>& traces, const std::vector<int>& ranks);

}  // namespace trainscope::trace
