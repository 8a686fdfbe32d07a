// What `trainscope check` demands of the solutions of a lesson's vary steps.
#pragma once

#include <string>
#include <vector>

#include "scenario/expression.h"
#include "scenario/findings.h"

namespace trainscope::scenario {

// What a step asks for does not hold on the lesson's own runs, and does once they are carried out
// again with the step's solution, of which its explanation can be told; what that turns alike on
// both sides is not enough on one. The least of a knob that is asked for is, on the lesson's own
// machine and with its own knobs, what the solution says, and elsewhere found from there. `where`
// names these runs: "t4-1", "h200-1 with seed 4".
void check_solutions(const Lesson& lesson, const Sides& sides, const std::string& where,
                     Findings& findings);

}  // namespace trainscope::scenario
