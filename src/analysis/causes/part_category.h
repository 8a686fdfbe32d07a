// The colour of a part of time, as a kind of span that has it: one for the window and the report.
#pragma once

#include "analysis/causes/partition.h"
#include "trace/trace.h"

namespace trainscope::analysis {

// kHeld: a wait that no kind of work stands for.
trace::Category category_of(Part part);

}  // namespace trainscope::analysis
