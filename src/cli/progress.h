// A run carried out at the command line: it says how far it is, and Ctrl-C ends it.
#pragma once

#include <string>

#include "analysis/run.h"
#include "scenario/sweep.h"

namespace trainscope::cli {

// Runs a config from start to end. A run of more than a second says on standard error how far it
// is, where that is a terminal. Throws InputError, and Error of Fault::kFailed when the person
// presses Ctrl-C: then nothing of the run is kept.
analysis::Run run_with_progress(const std::string& label, const program::Config& config);

// The same of a sweep, on all cores.
scenario::Sweep sweep_with_progress(const std::vector<scenario::LabelledConfig>& sides,
                                    std::vector<scenario::SweepAxis> axes);

}  // namespace trainscope::cli
