// What a run learned, from the rows of its steps.

#include "analysis/metrics/learning.h"

#include <catch2/catch.hpp>

using namespace trainscope;

namespace {

trace::TrainingStep step_with(std::initializer_list<float> gradients) {
  trace::TrainingStep step;
  step.has_gradients = true;
  for (const float gradient : gradients) step.gradients.add(gradient);
  return step;
}

}  // namespace

TEST_CASE("zero gradients are counted over all steps, and over one") {
  trace::Trace trace{trace::Origin{}};
  trace.add_step(step_with({0.0F, 1e-9F, -2.0F, -0.0F}));
  trace.add_step(step_with({0.0F, 0.0F, 0.0F, 3.0F}));
  CHECK(analysis::learning(trace).zero_gradients.value() == Approx(5.0 / 8));
  CHECK(analysis::learning_of_step(trace, 0).zero_gradients.value() == Approx(0.5));
  CHECK(analysis::learning_of_step(trace, 1).zero_gradients.value() == Approx(0.75));
}

TEST_CASE("a run that notes no gradients has no share of zeros") {
  trace::Trace trace{trace::Origin{}};
  trace.add_step({});
  CHECK(!analysis::learning(trace).zero_gradients.has_value());
}
