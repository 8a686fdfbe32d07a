// Steps of a run that ended before its GPUs were through with them.
#include "analysis/steps/finished_steps.h"

#include <catch2/catch.hpp>

#include "analysis/findings.h"
#include "analysis/runs/level.h"

using namespace trainscope;
using namespace trainscope::analysis;

namespace {

// A pipeline of which the seventh stage has no room in its first step; the last one's host, which
// waits for nobody, is through with it by then.
Run full_stage() {
  return test::run_of({"workload=train", "machine=a100-sxm-8", "model.name=llama-3-8b",
                       "model.seq_len=8192", "batch_size=8", "optimizer.name=adamw",
                       "parallel.strategy=pipeline", "parallel.world_size=8"});
}

}  // namespace

TEST_CASE("a step that one rank's host is through with, and its GPU never was, has no time") {
  const Run run = full_stage();
  REQUIRE(run.ending);
  CHECK(run.facts.measured.steps == 0);
  CHECK(what_times_are_of(run) == "the whole run, since none of its steps was done");
  for (const char* metric :
       {"time.step", "throughput.samples", "throughput.tokens", "flops.achieved", "mfu", "hfu"}) {
    CAPTURE(metric);
    CHECK_FALSE(value_of(run.metrics, metric));
  }
  // What the run is of stays.
  CHECK(value_of(run.metrics, "model.flops"));
  CHECK(value_of(run.metrics, "memory.peak_allocated"));
  CHECK(finished_steps(*run.trace, run.program.get()) == 0);
  CHECK_FALSE(value_of(run, asked_metric("time.step@7")));
}

TEST_CASE("steps that were done before a run ended keep their times") {
  const Run run = test::run_of({"workload=train", "machine=t4-1", "model.name=gpt2-large",
                                "data.name=tokens", "model.seq_len=256", "optimizer.name=adamw",
                                "optimizer.impl=fused", "steps=4", "batch_size=4"});
  REQUIRE(run.ending);
  CHECK(run.facts.measured.steps == 1);
  CHECK(finished_steps(*run.trace, run.program.get()) == 1);
  const Run whole = test::run_of({"workload=train", "steps=3"});
  CHECK(finished_steps(*whole.trace, whole.program.get()) == 3);
}
