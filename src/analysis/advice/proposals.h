// Knobs of a training run that may be worth turning, each for the parts of its time that it is to
// make shorter. Whether one does is for a trial to say.
#pragma once

#include <string>
#include <vector>

#include "analysis/runs/run.h"

namespace trainscope::analysis {

struct Proposal {
  std::string words;     // "The optimizer's update in fused kernels"
  std::string settings;  // "optimizer.impl=fused"; of several knobs with spaces between them
  std::vector<Part> of;
  // Not together with others: a step would train on another number of samples, or it is nothing
  // that a program sets.
  bool alone = false;
};

// The setting with which the slow rank of a run is as fast as the others.
inline constexpr const char* kKeepsUp = "straggler.rank=-1";

// Those that are not turned yet, and for something that takes at least a hundredth of the time; the
// ones that are most often worth it first. None but of training on a GPU. A machine or a model may
// yet refuse one.
std::vector<Proposal> proposals(const Run& run);

}  // namespace trainscope::analysis
