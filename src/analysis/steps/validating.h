// What a run's validations take: those between its training steps, which are no part of any step.
#pragma once

#include <optional>

#include "trace/trace.h"

namespace trainscope::analysis {

struct Validating {
  double time = 0;  // ns of the host, in the mean
  // In bytes, of the GPU that used the most; nothing where the trace does not count it.
  std::optional<double> peak;  // most in live tensors during one
  std::optional<double> left;  // what one leaves in live tensors behind it, in the mean
};

// Of validations that came to their end, as what a run out of memory ends in is not marked. Nothing
// where there is none.
std::optional<Validating> validating(const trace::Trace& trace);

}  // namespace trainscope::analysis
