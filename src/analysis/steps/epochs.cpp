#include "analysis/steps/epochs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analysis/caveats/loader_caveat.h"
#include "analysis/steps/between_steps.h"
#include "analysis/steps/step_marks.h"

namespace trainscope::analysis {
namespace {

// One step of a run that is looked at alone: of that step what it took, and nothing of the others.
bool is_alone(const Measured& measured) {
  return measured.steps == 1 && measured.first_step == 0;
}

// What a step's batches take to load in the long run; 0 where no workers load.
double loading(const Measured& measured) {
  return is_alone(measured) ? 0 : loading_in_the_long_run(measured).value_or(0);
}

// Of the measured steps, those of whole epochs; empty: no epoch is whole.
struct Whole {
  std::int64_t begin = 0;  // steps of the run
  std::int64_t end = 0;
};
Whole whole_epochs(const Measured& measured) {
  const double steps = measured.program->steps_per_epoch;
  if (steps != std::floor(steps) || measured.steps < steps) return {};
  const auto each = static_cast<std::int64_t>(steps);
  const std::int64_t first = measured.first_step, last = first + measured.steps;
  return {(first + each - 1) / each * each, last / each * each};
}

// What the validations of so many steps take, in the mean; those of whole epochs are measured.
double validating(const Measured& measured, double steps) {
  if (is_alone(measured)) return 0;
  const BetweenSteps between = between_steps(*measured.trace);
  if (between.every == 0) return 0;
  return steps / static_cast<double>(between.every) * between.validating /
         static_cast<double>(between.validations);
}

// Where the steps before `end` are done, with the validation after the last of them.
Nanos end_of(const Measured& measured, const std::vector<StepWindow>& steps, std::size_t end) {
  const StepWindow& last = steps[end - 1];
  Nanos done = last.window.end;
  for (const Interval& one : first_validations(*measured.trace, marks_by_rank(*measured.trace)))
    if (one.start >= last.mark.end && (end == steps.size() || one.start < steps[end].mark.start))
      done = std::max(done, validated_until(one, steps));
  return done;
}

}  // namespace

std::optional<double> epoch_time(const Measured& measured) {
  if (!measured.program || measured.steps == 0 || measured.program->steps_per_epoch <= 0)
    return std::nullopt;
  const double steps = measured.program->steps_per_epoch;
  const auto time = static_cast<double>(measured.window.end - measured.window.start);
  const double by_steps =
      steps * std::max(time / measured.steps, loading(measured)) + validating(measured, steps);
  const Whole whole = whole_epochs(measured);
  if (measured.steps == 1 || whole.begin >= whole.end) return by_steps;
  const std::vector<StepWindow> all = step_windows(*measured.trace);
  if (static_cast<std::int64_t>(all.size()) < whole.end) return by_steps;
  const Nanos begun = all[static_cast<std::size_t>(whole.begin)].window.start;
  const Nanos ended = end_of(measured, all, static_cast<std::size_t>(whole.end));
  return static_cast<double>(ended - begun) * steps / static_cast<double>(whole.end - whole.begin);
}

}  // namespace trainscope::analysis
