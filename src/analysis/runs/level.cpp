#include "analysis/runs/level.h"

#include <fmt/format.h>

namespace trainscope::analysis {

std::optional<std::size_t> stepped_one(const Run& a, const Run& b) {
  const bool steps_a = a.facts.measured.steps > 0, steps_b = b.facts.measured.steps > 0;
  if (steps_a == steps_b) return std::nullopt;
  return steps_a ? 0 : 1;
}

void level(std::vector<RunPointer>& runs) {
  const auto stepped = stepped_one(*runs[0], *runs[1]);
  if (!stepped) return;
  runs[*stepped] = std::make_shared<const Run>(measured_as_a_whole(*runs[*stepped]));
}

namespace {

// " (steps 2 to 9)", as the profiler counts them; empty where all are measured.
std::string which_steps(const Run& run) {
  const Measured& measured = run.facts.measured;
  const int first = measured.first_step;
  if (is_of_warmup(run)) return fmt::format(" (step {}, warm-up)", first);
  if (first == 0) return "";
  return measured.steps == 1 ? fmt::format(" (step {})", first)
                             : fmt::format(" (steps {} to {})", first, first + measured.steps - 1);
}

}  // namespace

bool is_of_warmup(const Run& run) {
  const Measured& measured = run.facts.measured;
  return measured.steps == 1 && measured.first_step < warmup_steps(*run.trace, run.program.get());
}

std::string what_times_are_of(const Run& one) {
  const int steps = one.facts.measured.steps;
  if (steps == 0)
    return step_windows(*one.trace).empty() ? "the whole run, since it has no steps"
                                            : "the whole run, since none of its steps was done";
  return (steps == 1 ? "one step" : fmt::format("a step, the mean of {}", steps)) +
         which_steps(one);
}

std::string what_times_are_of(const Run& a, const Run& b) {
  const int steps_a = a.facts.measured.steps, steps_b = b.facts.measured.steps;
  const std::string which_a = which_steps(a), which_b = which_steps(b);
  if (steps_a > 0 && steps_a == steps_b && which_a == which_b)
    return (steps_a == 1 ? "one step of each" : fmt::format("a step, the mean of {}", steps_a)) +
           which_a;
  if (steps_a > 0 && steps_b > 0)
    return fmt::format("a step, the mean of {} in {}{} and of {} in {}{}", steps_a, a.label,
                       which_a, steps_b, b.label, which_b);
  const bool has_a = !step_windows(*a.trace).empty();
  const bool has_b = !step_windows(*b.trace).empty();
  if (!has_a && !has_b) return "the whole run, since neither has steps";
  return fmt::format("the whole run, warm-up included, since {} has no steps",
                     has_a ? b.label : a.label);
}

}  // namespace trainscope::analysis
