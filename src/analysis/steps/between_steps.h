// What a run does between its steps, which is no part of any of them.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

struct BetweenSteps {
  std::size_t steps = 0;  // of the first rank, all that the trace marks
  std::size_t validations = 0;
  // ns that these add to the steps' in all: from when the work of the step before is done to when
  // the next one begins. The host's own time for them (time.validation) is longer where it is ahead
  // of the GPU.
  double validating = 0;
  std::size_t every = 0;  // steps before the first of them; 0: there is none
};
BetweenSteps between_steps(const trace::Trace& trace);

// When the step after a validation begins; where there is none, its own end. `steps`: all of them.
Nanos validated_until(const Interval& validation, const std::vector<StepWindow>& steps);

}  // namespace trainscope::analysis
