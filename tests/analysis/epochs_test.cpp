
#include <catch2/catch.hpp>
#include <numeric>

#include "analysis/metrics/metrics.h"
#include "analysis/runs/run.h"
#include "analysis/steps/between_steps.h"
#include "support/metric_value.h"
#include "support/step_facts.h"

using namespace trainscope;
using analysis::Run;
using test::value;

namespace {

Run run(std::initializer_list<const char*> more) {
  program::Config config;
  for (const char* setting : {"workload=train", "model.name=mlp", "data.name=digits"})
    config.set_text(setting);
  for (const char* setting : more) config.set_text(setting);
  return analysis::run_config("A", config);
}

std::vector<double> step_times(const Run& run) {
  std::vector<double> times;
  for (const auto& step : test::gather_step_facts(*run.trace, run.program.get(), run.machine.get()))
    times.push_back(static_cast<double>(step.measured.window.end - step.measured.window.start));
  return times;
}

}  // namespace

TEST_CASE("an epoch's time is the mean of the whole ones after the warm-up") {
  // New workers at each epoch's begin make its first step longer.
  const Run made = run({"batch_size=2500", "steps=14", "loader.num_workers=2",
                        "loader.persistent_workers=false", "loop.evaluate=false"});
  REQUIRE(made.program->steps_per_epoch == 4);
  REQUIRE(made.program->warmup_steps == 1);
  const std::vector<double> times = step_times(made);
  REQUIRE(times.size() == 14);
  const double two_epochs = std::accumulate(times.begin() + 4, times.begin() + 12, 0.0);
  CHECK(value(made, "time.epoch") == Approx(two_epochs / 2));
  CHECK(value(made, "time.epoch") != Approx(4 * value(made, "time.step")));
}

TEST_CASE("where no epoch is whole, its time is its steps' mean") {
  const Run made = run({"batch_size=100", "steps=5"});
  CHECK(value(made, "time.epoch") == Approx(100 * value(made, "time.step")));
  const Run accumulates = run({"batch_size=100", "steps=5", "accumulate_steps=8"});
  CHECK(value(accumulates, "time.epoch") == Approx(12.5 * value(accumulates, "time.step")));
  const Run shared = run({"batch_size=100", "steps=5", "machine=h200-8", "parallel.strategy=ddp",
                          "parallel.world_size=4"});
  CHECK(value(shared, "time.epoch") == Approx(25 * value(shared, "time.step")));
}

TEST_CASE("validations add to a run what it takes longer with them") {
  for (const char* every : {"validation.every=4", "validation.every=3"}) {
    CAPTURE(every);
    const Run without = run({"batch_size=100", "steps=12"});
    const Run with = run({"batch_size=100", "steps=12", "validation.batches=4", every});
    const analysis::BetweenSteps between = analysis::between_steps(*with.trace);
    CHECK(between.steps == 12);
    CHECK(between.validations == 12 / between.every);
    const double longer = value(with, "time.total") - value(without, "time.total");
    CHECK(between.validating == Approx(longer).epsilon(0.05));
  }
  const Run plain = run({"batch_size=100", "steps=5"});
  CHECK(analysis::between_steps(*plain.trace).validations == 0);
  CHECK(analysis::between_steps(*plain.trace).every == 0);
}

TEST_CASE("an epoch's time has the validations that come between its steps") {
  const Run made = run({"batch_size=100", "steps=9", "validation.batches=4", "validation.every=4"});
  REQUIRE(made.program->steps_per_epoch == 100);
  const analysis::BetweenSteps between = analysis::between_steps(*made.trace);
  REQUIRE(between.validations == 2);
  CHECK(between.validating > value(made, "time.step"));
  CHECK(value(made, "time.epoch") ==
        Approx(100 * value(made, "time.step") + 25 * between.validating / 2));
}

TEST_CASE("an epoch that is measured as a whole has its own validations, once") {
  const Run without = run({"batch_size=2500", "steps=12"});
  const Run with =
      run({"batch_size=2500", "steps=12", "validation.batches=3", "validation.every=4"});
  REQUIRE(with.program->steps_per_epoch == 4);
  const double validation = analysis::between_steps(*with.trace).validating / 3;
  CHECK(value(with, "time.epoch") ==
        Approx(value(without, "time.epoch") + validation).epsilon(0.02));
}

TEST_CASE("what trains on one batch, or does not train, has no epoch") {
  CHECK_FALSE(analysis::value_of(run({"workload=copy"}).metrics, "time.epoch"));
  const Run fixed = run({"data.one_batch=true"});
  CHECK_FALSE(analysis::value_of(fixed.metrics, "time.epoch"));
}
