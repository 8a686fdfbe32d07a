// Runs that are to be compared, so that their times are of the same thing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/runs/run.h"

namespace trainscope::analysis {

// Of two runs, the one whose times are of a step where the other's are of all of it; nothing where
// they are alike.
std::optional<std::size_t> stepped_one(const Run& a, const Run& b);

// That one measured as a whole too.
void level(std::vector<RunPointer>& runs);

// Whether its times are of a step that metrics leave out of a run which goes on for longer.
bool is_of_warmup(const Run& run);

// "a step, the mean of 8 (steps 2 to 9)", "the whole run, since neither has steps"; of a run that
// ended in its first step "one step (step 0, warm-up)". The same of one run.
std::string what_times_are_of(const Run& one);
std::string what_times_are_of(const Run& a, const Run& b);

}  // namespace trainscope::analysis
