// The time that GPUs stand still in a pipeline of stages.
#pragma once

#include <optional>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

// The time of the measured steps in which a GPU runs no kernel but those that send and receive, as
// a share of the time in which it does: the mean of all GPUs. With stages that are alike and
// nothing else to wait for it is (p - 1) / m, of p GPUs and m micro-batches, and (p - 1) / (v m)
// where each GPU has v stages in turn (Narayanan et al., arXiv:2104.04473, 2.2). Nothing where a
// model is not cut into stages.
std::optional<double> pipeline_bubble(const Measured& measured);

}  // namespace trainscope::analysis
