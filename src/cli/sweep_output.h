// A sweep as a table for people, as CSV and as JSON.
#pragma once

#include <string>
#include <vector>

#include "scenario/sweep.h"

namespace trainscope::cli {

// Badge and machine, and one row a combination: the knobs, and a few metrics that matter most where
// they apply and change; in brackets those of a run that ended early, up to there.
std::string sweep_table(const scenario::Sweep& sweep,
                        const std::vector<scenario::LabelledConfig>& sides);

// One row a combination and side, all metrics in base units, as RFC 4180 has it. The last column
// says whether they are of a run that came to its end.
std::string sweep_csv(const scenario::Sweep& sweep);

// `sides`: as they were before an axis changed them.
std::string sweep_json(const scenario::Sweep& sweep,
                       const std::vector<scenario::LabelledConfig>& sides);

}  // namespace trainscope::cli
