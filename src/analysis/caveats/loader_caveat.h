// Whether the measured steps tell what a loader's workers can do.
#pragma once

#include <optional>
#include <string>

#include "analysis/steps/measured.h"
#include "program/config.h"

namespace trainscope::analysis {

// What the workers of the process whose times are measured take for a batch once all of them are
// at work and what they loaded ahead is used up, in ns: the mean of their loads, over their number,
// for as many batches as a step takes. No less than the node's cores, and its disk, take for
// the batches of all its processes: a short run has work for few of the workers, and does not show
// that these contend. Nothing where no workers load for a program.
std::optional<double> loading_in_the_long_run(const Measured& measured);

// The same where it is longer than the measured steps are: what training would then take a step.
std::optional<double> longer_in_the_long_run(const Measured& measured);

// Workers that keep all cores of their node at work, those of all its processes together: more of
// them load no faster, and slow the training threads. Nothing where other things bound a step.
struct FullCores {
  int workers = 0;    // of all processes of the node
  int processes = 0;  // that have them
  int cores = 0;
};
std::optional<FullCores> cores_full_of_workers(const Measured& measured);

// How many workers of a process bring a step's batches while the rest of it goes on, at most as
// many as the node has cores for each process. `waited` is what the measured steps together wait
// for data. Nothing where nothing is loaded.
struct WorkersNeeded {
  int workers = 1;
  double loading = 0;  // ns, of a step's batches by one worker
  double rest = 0;     // ns, of a step without its waits for data
};
std::optional<WorkersNeeded> workers_needed(const Measured& measured, Nanos waited);

// A sentence where they do not: all workers begin at once, so the first batches come together, and
// steps that end before these are used up see no wait that longer training has. A batch takes its
// workers' mean time to load, over their number, in the long run; where that is more than a step
// took, the steps were too few. Empty: they tell it, or there are no workers.
std::string loader_caveat(const Measured& measured);

// A sentence where a config trains on photos at the default's cost of a sample, which is none to
// speak of, where real workers decode JPEGs. Empty: it says what a sample costs, or has no photos.
std::string free_loading(const program::Config& config);

}  // namespace trainscope::analysis
