// Whether the measured steps tell what a loader's workers can do.
#pragma once

#include <optional>
#include <string>

#include "analysis/measured.h"
#include "program/config.h"

namespace trainscope::analysis {

// What the workers of the process whose times are measured take for a batch once all of them are
// at work and what they loaded ahead is used up, in ns: the mean of their loads, over their number,
// for as many batches as a step takes. Nothing where no workers load for a program.
std::optional<double> loading_in_the_long_run(const Measured& measured);

// The same where it is longer than the measured steps are: what training would then take a step.
std::optional<double> longer_in_the_long_run(const Measured& measured);

// A sentence where they do not: all workers begin at once, so the first batches come together, and
// steps that end before these are used up see no wait that longer training has. A batch takes its
// workers' mean time to load, over their number, in the long run; where that is more than a step
// took, the steps were too few. Empty: they tell it, or there are no workers.
std::string loader_caveat(const Measured& measured);

// A sentence where a config trains on photos at the default's cost of a sample, which is none to
// speak of, where real workers decode JPEGs. Empty: it says what a sample costs, or has no photos.
std::string free_loading(const program::Config& config);

}  // namespace trainscope::analysis
