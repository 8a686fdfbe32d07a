#include "scenario/expected.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/runs/measured_run.h"
#include "base/error.h"
#include "scenario/machine_caveat.h"

namespace trainscope::scenario {
namespace {

// A GPU is the machine that it is, whatever the config says; and where the lesson names no seeds,
// any teaches the same.
bool is_as_taught(const Lesson& lesson, const analysis::Run& run) {
  const program::Config turned = lesson.turned(run.label, run.config);
  const bool as_written = std::ranges::all_of(turned.values(), [&](const auto& knob) {
    return knob.first == "machine" || (knob.first == "seed" && lesson.seeds.empty());
  });
  return as_written && !analysis::has_virtual_gpus(run.trace->origin());
}

Expected put_to_the_test(const Expectation& expectation, const Sides& sides) {
  Expected expected;
  expected.expression = expectation.expression.text();
  expected.min = expectation.real_min;
  expected.max = expectation.real_max;
  try {
    expected.value = expectation.expression.evaluate(sides);
    expected.fails = !is_within(*expected.value, expected.min, expected.max);
  } catch (const InputError& error) {
    expected.untold = error.what();
  }
  return expected;
}

// "1.5 to 4", "at least 1.5".
std::string bounds_words(const Expected& expected) {
  const std::string unit = expected.value ? expected.value->unit : "1";
  const auto shown = [&](double bound) { return show(Quantity{bound, unit}); };
  if (!expected.max) return "at least " + shown(*expected.min);
  if (!expected.min) return "at most " + shown(*expected.max);
  return shown(*expected.min) + " to " + shown(*expected.max);
}

}  // namespace

bool is_within(const Quantity& value, const std::optional<double>& min,
               const std::optional<double>& max) {
  if (value.unit == "truth" && !value.truth()) return false;
  return !(min && !(value.value >= *min)) && !(max && !(value.value <= *max));
}

std::vector<Expected> expected_of_a_gpu(const Lesson& lesson, const Sides& sides) {
  const bool as_taught = std::all_of(sides.begin(), sides.end(), [&](const analysis::Run* run) {
    return is_as_taught(lesson, *run);
  });
  std::vector<Expected> all;
  if (!as_taught) return all;
  for (const Expectation& expectation : lesson.expectations)
    if (expectation.real_min || expectation.real_max)
      all.push_back(put_to_the_test(expectation, sides));
  return all;
}

bool any_fails(const std::vector<Expected>& expected, const Lesson& lesson, const Sides& sides) {
  return std::any_of(expected.begin(), expected.end(), [](const auto& one) { return one.fails; }) &&
         machine_caveat(lesson, sides).empty();
}

std::string sentence(const Expected& expected) {
  const std::string outcome =
      expected.value ? show(*expected.value) + (expected.fails ? ", does not hold" : ", holds")
                     : expected.untold;
  return fmt::format("expected of a real GPU: {} {}: {}", expected.expression,
                     bounds_words(expected), outcome);
}

}  // namespace trainscope::scenario
