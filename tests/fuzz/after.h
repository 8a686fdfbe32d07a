// What comes after a reader: everything that a run is shown and written with.
#pragma once

#include "analysis/runs/run_file.h"

namespace trainscope::fuzz {

// Writes the runs in every form and reads back what can be read.
void use(const analysis::SavedRuns& saved);

}  // namespace trainscope::fuzz
