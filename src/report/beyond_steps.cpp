#include "report/beyond_steps.h"

#include <algorithm>
#include <cmath>

#include "analysis/steps/between_steps.h"
#include "base/units.h"
#include "report/comparison.h"

namespace trainscope::report {
namespace {

// Of the longer run: what its start or its end may differ by, and nobody asks.
constexpr double kLeast = 0.02;

double before_steps(const analysis::Run& run) {
  const analysis::Measured& measured = run.facts.measured;
  return static_cast<double>(measured.window.start - measured.whole.start);
}

bool have_equal_steps(const analysis::Run& a, const analysis::Run& b) {
  const auto step_a = analysis::value_of(a.metrics, "time.step");
  const auto step_b = analysis::value_of(b.metrics, "time.step");
  return step_a && step_b && less_is_faster(a, b) && are_alike(*step_a, *step_b);
}

std::string time(double nanos, const Speech& speech) {
  return speech.number(format_nanos(std::abs(nanos)));
}

// Most of the whole.
bool is_most(double part, double whole) {
  return part / whole > 0.5;
}

}  // namespace

std::optional<BeyondSteps> beyond_steps(const analysis::Run& a, const analysis::Run& b) {
  if (!have_equal_steps(a, b)) return std::nullopt;
  const double total_a = analysis::value_of(a.metrics, "time.total").value_or(0);
  const double total_b = analysis::value_of(b.metrics, "time.total").value_or(0);
  BeyondSteps beyond{.nanos = total_b - total_a};
  if (std::abs(beyond.nanos) <= kLeast * std::max(total_a, total_b)) return std::nullopt;
  const analysis::BetweenSteps in_a = analysis::between_steps(*a.trace);
  const analysis::BetweenSteps in_b = analysis::between_steps(*b.trace);
  if (in_a.steps != in_b.steps) return std::nullopt;
  beyond.validating = in_b.validating - in_a.validating;
  beyond.before = before_steps(b) - before_steps(a);
  return beyond;
}

std::string headline(const BeyondSteps& beyond, const analysis::Run& a, const analysis::Run& b,
                     const Speech& speech) {
  return told(speech, "Equal steps; {}'s run takes {} longer", (beyond.nanos > 0 ? b : a).label,
              time(beyond.nanos, speech));
}

std::string sentence(const BeyondSteps& beyond, const Speech& speech) {
  const std::string all = time(beyond.nanos, speech);
  if (time(beyond.validating, speech) == all)
    return told(speech,
                "Steps take equally long; the runs differ by {} of validations between steps.",
                all);
  if (is_most(beyond.validating, beyond.nanos))
    return told(speech,
                "Steps take equally long; the runs differ by {}, {} of it in validations between "
                "steps.",
                all, time(beyond.validating, speech));
  if (is_most(beyond.before, beyond.nanos))
    return told(speech,
                "Steps take equally long; the runs differ by {}, {} of it before the measured "
                "steps.",
                all, time(beyond.before, speech));
  return told(speech, "Steps take equally long; the runs differ by {} outside the measured steps.",
              all);
}

std::string nothing_to_explain(const analysis::Run& a, const analysis::Run& b,
                               const Speech& speech) {
  const auto beyond = beyond_steps(a, b);
  return beyond ? sentence(*beyond, speech) : speech.say(kNothingToExplain);
}

std::string alike_heading(const analysis::Run& a, const analysis::Run& b, const Speech& speech) {
  const char* words = beyond_steps(a, b) ? "The steps of {} and {} take equally long"
                                         : "{} and {} take equally long";
  return told(speech, words, "A", "B");
}

}  // namespace trainscope::report
