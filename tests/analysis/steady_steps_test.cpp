// From which step on a run is measured, against steps that are known to call cudaMalloc.

#include <catch2/catch.hpp>

#include "analysis/runs/level.h"
#include "analysis/runs/run.h"
#include "support/config.h"

using namespace trainscope;
using analysis::Run;

namespace {

Run run_of(const std::vector<std::string>& more) {
  std::vector<std::string> settings{
      "workload=train", "machine=h100-sxm-1", "model.name=gpt2",      "model.seq_len=1024",
      "batch_size=4",   "precision=bf16",     "optimizer.name=adamw", "attention.kernel=flash"};
  settings.insert(settings.end(), more.begin(), more.end());
  return analysis::run_config("A", test::config_of(settings));
}

double step_of(const Run& run) {
  return *analysis::value_of(run.metrics, "time.step");
}

}  // namespace

TEST_CASE("a step's time does not depend on how many steps there are") {
  const double many = step_of(run_of({"steps=20"}));
  for (const char* steps : {"steps=3", "steps=4", "steps=6"}) {
    const Run run = run_of({steps});
    CAPTURE(steps);
    CHECK(run.facts.measured.first_step == 2);  // the first with an optimizer's state allocates
    CHECK(step_of(run) == Approx(many).epsilon(0.001));
  }
}

TEST_CASE("what is said of a run's times names the steps that they are of") {
  const Run run = run_of({"steps=6"});
  CHECK(run.facts.measured.steps == 4);
  CHECK(analysis::what_times_are_of(run) == "a step, the mean of 4 (steps 2 to 5)");
  CHECK(analysis::what_times_are_of(run_of({"steps=3"})) == "one step (step 2)");
  CHECK_FALSE(analysis::is_of_warmup(run));
  // As of one that ends in its second step.
  Run early = run;
  early.facts.measured.steps = 1;
  early.facts.measured.first_step = 0;
  CHECK(analysis::is_of_warmup(early));
  CHECK(analysis::what_times_are_of(early) == "one step (step 0, warm-up)");
}

TEST_CASE("where all steps call cudaMalloc, only the warm-up is left out") {
  const Run run = run_of({"steps=4", "loop.empty_cache=true"});
  CHECK(run.facts.measured.first_step == 1);
  CHECK(run.facts.measured.steps == 3);
}

TEST_CASE("a lone step is measured, and a model that has all it needs from the second on") {
  CHECK(run_of({"steps=1"}).facts.measured.first_step == 0);
  const Run small = analysis::run_config("A", test::config_of({"workload=train", "steps=4"}));
  CHECK(small.facts.measured.first_step == 1);
  CHECK(small.facts.measured.steps == 3);
}
