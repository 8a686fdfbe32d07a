// A run carried out at the command line: it says how far it is, and Ctrl-C ends it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "analysis/runs/run.h"
#include "scenario/sweep.h"

namespace trainscope::cli {

// Runs a config from start to end. A run of more than a second says on standard error how far it
// is, where that is a terminal. Throws InputError, and Error of Fault::kFailed when the person
// presses Ctrl-C: then nothing of the run is kept.
analysis::Run run_with_progress(const std::string& label, const program::Config& config);

// The same of a sweep, on all cores.
scenario::Sweep sweep_with_progress(const std::vector<scenario::LabelledConfig>& sides,
                                    std::vector<scenario::SweepAxis> axes);

// work(0) .. work(count - 1) on all cores, and on a terminal how many of them are done: "12 of 195
// checks". What one throws is thrown, of the first; Ctrl-C ends the program. `most`: beside one
// another; 0: as many as there are cores.
void in_parallel_with_progress(std::size_t count, const std::string& what,
                               const std::function<void(std::size_t)>& work, std::size_t most = 0);

}  // namespace trainscope::cli
