// What the trace shows of the cause of a part of a run's time, and what is worth trying.
#pragma once

#include "analysis/causes/diagnosis.h"
#include "analysis/causes/host_cause.h"

namespace trainscope::analysis {

// Fills in why and advice of a finding of `run`; `host`: what that does while the GPU waits for a
// launch.
void explain(const Run& run, Finding& finding, const HostCause& host, const Speech& speech);

}  // namespace trainscope::analysis
