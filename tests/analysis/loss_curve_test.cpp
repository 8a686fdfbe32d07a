// The loss over the steps, from rows made by hand.
#include "analysis/loss_curve.h"

#include <catch2/catch.hpp>
#include <cmath>

using namespace trainscope;
using namespace trainscope::analysis;

namespace {

void add(trace::Trace& trace, double loss, bool skipped = false) {
  trace::TrainingStep step;
  step.step = trace.steps().size();
  step.time = 10 * (step.step + 1);
  step.has_loss = true;
  step.loss = loss;
  step.skipped = skipped;
  trace.add_step(step);
}

}  // namespace

TEST_CASE("a curve has a loss a step, a hole where it is no number, and says where that began") {
  trace::Trace trace{trace::Origin{}};
  CHECK(loss_curve(trace).empty());
  for (const double loss : {2.0, 1.0}) add(trace, loss);
  add(trace, NAN, true);
  add(trace, 4.0);
  const LossCurve curve = loss_curve(trace);
  CHECK_FALSE(curve.empty());
  REQUIRE(curve.loss.size() == 4);
  CHECK(curve.loss[1] == 1);
  CHECK(std::isnan(curve.loss[2]));
  CHECK(curve.diverged == 2);
  CHECK(curve.skipped == std::vector<std::int64_t>{2});
  CHECK(curve.least == 1);
  CHECK(curve.most == 4);
  CHECK_FALSE(curve.step_at(9));
  CHECK(curve.step_at(10) == 0U);
  CHECK(curve.step_at(39) == 2U);
  CHECK(curve.step_at(1000) == 3U);
}

TEST_CASE("a step whose loss is not computed is no divergence") {
  trace::Trace trace{trace::Origin{}};
  trace.add_step({});
  add(trace, 1);
  const LossCurve curve = loss_curve(trace);
  CHECK_FALSE(curve.diverged);
  CHECK(std::isnan(curve.loss[0]));
}

TEST_CASE("the mean is that of the last losses, and survives one that is huge") {
  trace::Trace trace{trace::Origin{}};
  for (int i = 0; i < 400; ++i) add(trace, i == 100 ? 1e30 : i);
  const LossCurve curve = loss_curve(trace);
  REQUIRE(curve.window == 10);
  CHECK(curve.mean[0] == 0);
  CHECK(curve.mean[4] == 2);
  CHECK(curve.mean[99] == 94.5);
  CHECK(curve.mean[399] == 394.5);
}

TEST_CASE("accuracy is of the evaluations") {
  trace::Trace trace{trace::Origin{}};
  trace.add_evaluation({20, 500, 200, 150});
  const LossCurve curve = loss_curve(trace);
  REQUIRE(curve.accuracy.size() == 1);
  CHECK(curve.accuracy[0].share == 0.75);
  CHECK_FALSE(curve.empty());
  CHECK_FALSE(curve.computed);
}
