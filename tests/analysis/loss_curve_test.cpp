// The loss over the steps, from rows made by hand.
#include "analysis/metrics/loss_curve.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "support/made_trace.h"

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

namespace {

// With a target of 1 for the mean of three losses.
LossCurve to_one(const std::vector<double>& losses) {
  trace::Trace trace{trace::Origin{}};
  for (const double loss : losses) add(trace, loss);
  return loss_curve(trace, {.loss = 1, .steps = 3});
}

}  // namespace

TEST_CASE("a target is reached where the mean of the last losses is not above it") {
  const LossCurve curve = to_one({5, 4, 1.5, 1.25, 0.25, 0.1});
  CHECK(curve.window == 3);
  CHECK(curve.target == 1);
  CHECK(curve.mean[4] == 1);
  CHECK(curve.reached == 4U);
}

TEST_CASE("a target is not reached by one batch's luck") {
  CHECK_FALSE(to_one({5, 4, 0.1, 3, 0.2, 4, 0.1, 3}).reached);
}

TEST_CASE("a target that is never reached is not reached") {
  CHECK_FALSE(to_one({5, 4, 3, 2, 1.5, 1.25, 1.0001, 1.0001, 1.0001}).reached);
}

TEST_CASE("the time to a loss is from the run's first event") {
  test::MadeTrace made;
  const auto stream = made.lane(trace::LaneKind::kStream, 0);
  made.add(stream, "late", 9, 12, trace::Category::kForward);
  made.add(stream, "first", 7, 8, trace::Category::kForward);
  for (const double loss : {3.0, 1.0, 0.5}) add(made.trace, loss);
  CHECK(loss_curve(made.trace, {.loss = 1, .steps = 1}).reached_after == 20 - 7);
  CHECK(loss_curve(made.trace, {.loss = 0.1, .steps = 1}).reached_after == 0);
  CHECK(loss_curve(made.trace, {.loss = 1, .steps = 1}).time[1] == 20);  // as the trace has it
}

TEST_CASE("what is reached stays so, whatever the loss does then") {
  CHECK(to_one({5, 1, 1, 1, 7, 8, 9, NAN}).reached == 3U);
}

TEST_CASE("fewer steps than a mean is of reach nothing, and exactly as many may") {
  CHECK_FALSE(to_one({0.1, 0.1}).reached);
  CHECK(to_one({0.1, 0.1, 0.1}).reached == 2U);
}

TEST_CASE("losses that are no numbers count for no mean, and reach nothing") {
  CHECK_FALSE(to_one({0.5, NAN, 0.5, NAN, INFINITY}).reached);
  CHECK(to_one({0.5, NAN, 0.5, NAN, 0.5}).reached == 4U);
}

TEST_CASE("without a target nothing is reached, and the mean is as long as the run asks for") {
  trace::Trace trace{trace::Origin{}};
  for (int i = 0; i < 80; ++i) add(trace, 0);
  const LossCurve curve = loss_curve(trace, {.loss = 0, .steps = 32});
  CHECK_FALSE(curve.reached);
  CHECK(curve.window == 2);
}
