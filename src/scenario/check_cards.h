// What `trainscope check` demands of a lesson before it runs.
#pragma once

#include <vector>

#include "scenario/check.h"

namespace trainscope::scenario {

// Its shape (what steps there are, and that a recap asks something), what its cards say and how
// long that takes, that it expects something of its runs, and that its comparisons are of like
// units.
std::vector<Finding> check_cards(const Lesson& lesson);

}  // namespace trainscope::scenario
