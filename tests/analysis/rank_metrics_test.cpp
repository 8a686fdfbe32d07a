// Metrics of single ranks.

#include "analysis/metrics/rank_metrics.h"

#include <catch2/catch.hpp>
#include <string>

#include "analysis/runs/run.h"
#include "base/error.h"
#include "support/metric_value.h"

using namespace trainscope;
using test::value;

namespace {

analysis::Run run(std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* common : {"machine=dgx1-v100-8", "model.name=resnet18", "steps=3",
                             "parallel.world_size=4", "batch_size=16"})
    config.set_text(common);
  for (const char* setting : settings) config.set_text(setting);
  return analysis::run_config("A", config);
}

}  // namespace

TEST_CASE("where one rank stands for all, every rank has its metrics") {
  const auto even = run({"parallel.strategy=ddp"});
  CHECK(analysis::process_count(even) == 4);
  for (const analysis::MetricValue& one : even.metrics) {
    INFO(one.metric->name);
    CHECK(value(even, one.metric->name + "@3") == one.value);
  }
}

TEST_CASE("ranks that differ have metrics of their own") {
  const auto odd = run({"parallel.strategy=ddp", "straggler.rank=2", "straggler.factor=1.5"});
  CHECK(value(odd, "time.forward@2") == value(odd, "time.forward"));
  CHECK(value(odd, "time.forward@2") == Approx(1.5 * value(odd, "time.forward@0")).epsilon(0.02));
  CHECK(value(odd, "comm.wait@0") > 0);
  CHECK(value(odd, "time.step@0") == Approx(value(odd, "time.step@2")).epsilon(0.05));
}

TEST_CASE("launches and copies are those of one process, however many are simulated") {
  const auto even = run({"parallel.strategy=ddp"});
  const auto odd = run({"parallel.strategy=ddp", "straggler.rank=2", "straggler.factor=1.5"});
  CHECK(value(odd, "launch.calls") == Approx(value(even, "launch.calls")).epsilon(0.03));
  CHECK(value(odd, "bandwidth.h2d") < 1.1 * value(even, "bandwidth.h2d"));
}

TEST_CASE("a rank with several GPUs waits as long as one of them, not as all together") {
  program::Config config;
  for (const char* setting : {"machine=h200-8x2", "workload=collective", "collective.bytes=4096",
                              "steps=2", "host.profile=native"})
    config.set_text(setting);
  const analysis::Run sum = analysis::run_config("A", config);
  REQUIRE(sum.ranks.size() > 1);
  for (const analysis::RankTimes& rank : sum.ranks) {
    CHECK(rank.idle <= value(sum, "comm.wait"));
    CHECK(rank.busy + rank.idle <= value(sum, "time.step"));
  }
}

TEST_CASE("of DataParallel, a rank is a GPU of its one process") {
  const auto dp = run({"parallel.strategy=dp"});
  CHECK(analysis::process_count(dp) == 1);
  CHECK(analysis::rank_count(dp) == 4);
  CHECK(value(dp, "memory.peak_allocated@0") == value(dp, "memory.peak_allocated"));
  CHECK(value(dp, "memory.peak_allocated@3") < value(dp, "memory.peak_allocated@0"));
}

TEST_CASE("a rank that a run does not have is refused by name") {
  const auto even = run({"parallel.strategy=ddp"});
  CHECK_THROWS_WITH(value(even, "time.step@4"), "run A has no rank 4, but 4 ranks: write @0 to @3");
  for (const char* wrong : {"time.step@", "time.step@x", "time.step@-1", "time.step@1.5"})
    CHECK_THROWS_AS(analysis::asked_metric(wrong), InputError);
  CHECK_THROWS_WITH(analysis::asked_metric("time.stop@1"),
                    Catch::Matchers::Contains("did you mean time.step"));
}

TEST_CASE("a loss is asked of the rank that tells it") {
  const auto even = run({"parallel.strategy=ddp", "model.name=mlp", "data.name=digits"});
  CHECK(value(even, "loss@0") == analysis::value_of(even.metrics, "loss"));
  CHECK_THROWS_WITH(value(even, "loss@1"), "loss is told of rank 0 alone; write loss or loss@0");
  for (const char* name : {"loss.final@3", "accuracy.final@1", "time.to_loss@2"})
    CHECK_THROWS_AS(analysis::asked_metric(name), InputError);
}

TEST_CASE("of a rank of a side that has not run nothing is known") {
  analysis::Run unrun;
  unrun.label = "A";
  CHECK_FALSE(analysis::value_of(unrun, analysis::asked_metric("time.step@1")));
}

TEST_CASE("in a pipeline a rank is at work, or waits, for no longer than a step takes") {
  // Several of its streams wait at once, and while it calculates.
  const analysis::Run pipeline =
      run({"parallel.strategy=pipeline", "model.name=gpt2", "model.seq_len=512", "batch_size=16",
           "data.name=tokens", "pipeline.microbatches=4"});
  REQUIRE(pipeline.ranks.size() == 4);
  const double step = value(pipeline, "time.step");
  for (const analysis::RankTimes& rank : pipeline.ranks) {
    INFO(rank.rank);
    CHECK(rank.idle > 0);
    CHECK(rank.busy + rank.idle <= 1.001 * step);
  }
}
