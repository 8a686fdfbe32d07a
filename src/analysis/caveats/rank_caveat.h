// Whether a trace that was read has all ranks of its job.
#pragma once

#include <string>

#include "trace/trace.h"

namespace trainscope::analysis {

// Whether collectives of the trace have more members than it has ranks with collectives, or, where
// a process drives several, GPUs.
bool lacks_ranks(const trace::Trace& trace);

// A sentence where it does: what waits for whom takes the traces of all. Empty: it has them all.
std::string rank_caveat(const trace::Trace& trace);

}  // namespace trainscope::analysis
