// What a lesson expects of a real GPU ([[expect]] real), beside what runs on one say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/expression.h"
#include "scenario/lesson.h"

namespace trainscope::scenario {

struct Expected {
  std::string expression;
  std::optional<double> min, max;  // one of them at least
  std::optional<Quantity> value;   // nothing: the runs do not tell
  std::string untold;              // why not, a sentence
  bool fails = false;              // what the runs do not tell neither holds nor fails
};

// Whether a value is within bounds, and no truth that is not one.
bool is_within(const Quantity& value, const std::optional<double>& min,
               const std::optional<double>& max);

// One for each expectation with real bounds. None where the sides are not the lesson's: a knob was
// turned, or virtual GPUs stood in for those that it asks for.
std::vector<Expected> expected_of_a_gpu(const Lesson& lesson, const Sides& sides);

// Whether one of them fails that the text of the lesson was written for this machine to hold.
bool any_fails(const std::vector<Expected>& expected, const Lesson& lesson, const Sides& sides);

// "expected of a real GPU: ratio(A.time.step, B.time.step) 1.5 to 4: 2.1, holds"
std::string sentence(const Expected& expected);

}  // namespace trainscope::scenario
