// Whether a trace tells what its host does between its calls of the CUDA runtime.
#pragma once

#include "trace/trace.h"

namespace trainscope::analysis {

// Operators, or frames of Python: without the profiler's activity CPU there are none.
bool has_operators(const trace::Trace& trace);

}  // namespace trainscope::analysis
