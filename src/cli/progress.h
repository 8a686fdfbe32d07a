// A run carried out at the command line: it says how far it is, and Ctrl-C ends it.
#pragma once

#include <string>

#include "analysis/run.h"

namespace trainscope::cli {

// Runs a config from start to end. A run of more than a second says on standard error how far it
// is, where that is a terminal. Throws InputError, and Error of Fault::kFailed when the person
// presses Ctrl-C: then nothing of the run is kept.
analysis::Run run_with_progress(const std::string& label, const program::Config& config);

}  // namespace trainscope::cli
