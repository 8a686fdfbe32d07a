// What `trainscope check` demands of comparisons and sums: both sides are of the same unit.
#pragma once

#include <string>
#include <vector>

#include "scenario/expression.h"

namespace trainscope::scenario {

// A sentence for each comparison, and each sum, of an expression that has a time, a size or a rate
// beside a number that has no unit (0 needs none, and a knob is told in its own), or beside what is
// of another: "A.time.step < 20" asks for less than 20 ns, and no run is that short. Of a product
// or a quotient of two that have units nothing is said.
std::vector<std::string> unit_faults(const Expression& expression);

}  // namespace trainscope::scenario
