// What is said below a sweep's table of all its rows: the best, the largest that fits, and GPUs
// that nobody uses.
#pragma once

#include <string>
#include <vector>

#include "scenario/sweep.h"

namespace trainscope::cli {

// "batch_size = 6 and machine = h200-8", of a point.
std::string values_of(const scenario::Sweep& sweep, const scenario::SweepPoint& point);

// A paragraph, or several; empty where there is nothing to say.
std::string sweep_notes(const scenario::Sweep& sweep,
                        const std::vector<scenario::LabelledConfig>& sides);

// Why a run ended, without what its memory held then: that is for the JSON.
std::string ending_in_short(const std::string& ending);

}  // namespace trainscope::cli
