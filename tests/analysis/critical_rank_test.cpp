// Of several GPUs, whose times a metric is.

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"
#include "support/metric_value.h"

using namespace trainscope;
using test::value;

namespace {

analysis::Run run(std::initializer_list<const char*> settings) {
  program::Config config;
  for (const char* common : {"machine=dgx1-v100-8", "model.name=resnet18", "steps=3"})
    config.set_text(common);
  for (const char* setting : settings) config.set_text(setting);
  return analysis::run_config("A", config);
}

}  // namespace

TEST_CASE("times are those of the rank that the others wait for") {
  const auto even = run({"parallel.strategy=ddp", "parallel.world_size=4", "batch_size=16"});
  const auto odd = run({"parallel.strategy=ddp", "parallel.world_size=4", "batch_size=16",
                        "straggler.rank=2", "straggler.factor=1.5"});
  CHECK(even.facts.measured.rank == -1);
  CHECK(odd.facts.measured.rank == 2);
  CHECK(odd.facts.measured.device == 2);
  CHECK(value(odd, "time.forward") == Approx(1.5 * value(even, "time.forward")).epsilon(0.02));
  CHECK(value(odd, "memory.parameters") == value(even, "memory.parameters"));
  CHECK(value(odd, "comm.wait") > 0);
}

TEST_CASE("a rank that is hardly slower hardly changes a rate, or what a queue holds") {
  const auto even = run({"parallel.strategy=ddp", "parallel.world_size=8", "batch_size=16"});
  const auto odd = run({"parallel.strategy=ddp", "parallel.world_size=8", "batch_size=16",
                        "straggler.rank=3", "straggler.factor=1.01"});
  REQUIRE(odd.facts.measured.rank == 3);
  for (const char* metric : {"bandwidth.bus", "launch.queue_depth", "bound.compute",
                             "sm.utilization", "bandwidth.h2d"}) {
    INFO(metric);
    CHECK(value(odd, metric) == Approx(value(even, metric)).epsilon(0.05));
  }
}

TEST_CASE("of one process's GPUs, times are those of the first") {
  const auto dp = run({"parallel.strategy=dp", "parallel.world_size=4", "batch_size=64"});
  CHECK(dp.facts.measured.rank == 0);
  CHECK(dp.facts.measured.device == 0);
  CHECK(value(dp, "memory.least_peak") < value(dp, "memory.peak_allocated"));
  CHECK(value(dp, "mfu") < 1);
  CHECK(value(dp, "scaling.efficiency") < 1);
}

TEST_CASE("what a deadlock leaves undone is no step") {
  const auto even = run({"parallel.strategy=ddp", "parallel.world_size=2", "batch_size=16"});
  const auto stuck = run(
      {"parallel.strategy=ddp", "parallel.world_size=2", "batch_size=16", "uneven_batches=true"});
  CHECK(even.facts.measured.steps == 2);
  CHECK(stuck.facts.measured.steps == 1);
  CHECK(value(stuck, "time.step") == Approx(value(even, "time.step")).epsilon(0.1));
  CHECK(value(stuck, "comm.stuck") == 1);
  CHECK(value(even, "comm.stuck") == 0);
}
