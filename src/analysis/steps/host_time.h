// What the training thread did in its steps: its launches, how far ahead of the GPU it was with
// them, and what its timers read.
#pragma once

#include <optional>

#include "analysis/steps/measured.h"

namespace trainscope::analysis {

struct HostTimes {
  std::optional<double> launches;     // calls that launch kernels or graphs, a step
  std::optional<double> lead;         // ns, a step: see metric host.lead
  std::optional<double> timer;        // ns: mean of the timers of the measured steps
  std::optional<double> first_timer;  // ns: the first of the run
};

// Empty where the trace has no step marks.
HostTimes host_times(const Measured& measured);

}  // namespace trainscope::analysis
