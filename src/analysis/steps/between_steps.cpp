#include "analysis/steps/between_steps.h"

#include <algorithm>

#include "analysis/steps/measured.h"
#include "analysis/steps/step_marks.h"

namespace trainscope::analysis {

Nanos validated_until(const Interval& validation, const std::vector<StepWindow>& steps) {
  const auto next = std::ranges::upper_bound(
      steps, validation.start, {}, [](const StepWindow& step) { return step.mark.start; });
  return next == steps.end() ? validation.end : next->window.start;
}

BetweenSteps between_steps(const trace::Trace& trace) {
  BetweenSteps found;
  const std::vector<Interval> validations = first_validations(trace, marks_by_rank(trace));
  const std::vector<StepWindow> steps = step_windows(trace);
  found.steps = steps.size();
  found.validations = validations.size();
  for (const Interval& one : validations) {
    const auto before = std::ranges::count_if(
        steps, [&](const StepWindow& step) { return step.mark.start < one.start; });
    if (found.every == 0) found.every = static_cast<std::size_t>(before);
    if (before == 0) continue;
    const Nanos begun = steps[static_cast<std::size_t>(before) - 1].window.end;
    found.validating +=
        static_cast<double>(std::max<Nanos>(0, validated_until(one, steps) - begun));
  }
  return found;
}

}  // namespace trainscope::analysis
