// What `trainscope check` demands of comparisons: both sides of one are of the same unit.
#pragma once

#include <string>
#include <vector>

#include "scenario/expression.h"

namespace trainscope::scenario {

// A sentence for each comparison of an expression that compares a time, a size or a rate with a
// number that has no unit (0 needs none, and a knob is told in its own), or with one of another
// unit: "A.time.step < 20" asks for less than 20 ns, and no run is that short.
std::vector<std::string> unit_faults(const Expression& expression);

}  // namespace trainscope::scenario
