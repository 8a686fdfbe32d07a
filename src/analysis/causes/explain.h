// What the trace shows of the cause of a part of a run's time, and what is worth trying.
#pragma once

#include "analysis/causes/diagnosis.h"

namespace trainscope::analysis {

// Fills in why and advice of a finding of `run`, whose times are divided by `per`.
void explain(const Run& run, Finding& finding, double per, const Speech& speech);

}  // namespace trainscope::analysis
