// What `run`, `import` and `compare` print of finished runs, for a person to read.
#pragma once

#include "cli/outputs.h"

namespace trainscope::cli {

// Where they come from, what they take, where that goes, and what would change it. To stdout.
void print_runs(const Finished& finished);

}  // namespace trainscope::cli
