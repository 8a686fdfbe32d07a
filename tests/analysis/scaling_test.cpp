// The scaling curve, against whole runs of the same configs.
#include "analysis/advice/scaling.h"

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"

using namespace trainscope;
using namespace trainscope::analysis;

namespace {

program::Config ddp(const std::vector<std::string>& settings) {
  program::Config config;
  for (const char* setting :
       {"workload=train", "parallel.strategy=ddp", "parallel.world_size=8", "machine=dgx1-v100-8",
        "model.name=resnet18", "batch_size=8", "steps=6"})
    config.set_text(setting);
  for (const std::string& setting : settings) config.set_text(setting);
  return config;
}

bool never() {
  return false;
}

}  // namespace

TEST_CASE("a scaling curve has the throughput of each number of GPUs, as their runs have it") {
  const auto curve = scaling_curve(ddp({}), never);
  REQUIRE(curve);
  REQUIRE(curve->points.size() == 4);
  CHECK(curve->own == 8);
  int gpus = 1;
  for (const ScalingPoint& point : curve->points) {
    CHECK(point.gpus == gpus);
    const std::string size = std::to_string(gpus);
    const Run run =
        run_config("A", ddp({"parallel.world_size=" + size,
                             gpus == 1 ? "parallel.strategy=none" : "parallel.strategy=ddp"}));
    CHECK(point.samples_per_s ==
          Approx(*value_of(run.metrics, "throughput.samples")).epsilon(1e-9));
    CHECK(curve->efficiency(point) <= 1.0001);
    gpus *= 2;
  }
  CHECK(curve->ideal(4) == 4 * curve->points[0].samples_per_s);
  CHECK(curve->efficiency(curve->points[0]) == 1);
}

TEST_CASE("a scaling curve has the config's own number of GPUs, whatever it is") {
  const auto curve = scaling_curve(ddp({"parallel.world_size=3"}), never);
  REQUIRE(curve);
  std::vector<int> gpus;
  for (const ScalingPoint& point : curve->points) gpus.push_back(point.gpus);
  CHECK(gpus == std::vector<int>{1, 2, 3, 4, 8});
}

TEST_CASE("there is no scaling curve of one GPU, of a copy, or once it is stopped") {
  CHECK_FALSE(scaling_curve(ddp({"parallel.strategy=none", "parallel.world_size=1"}), never));
  program::Config copy;
  copy.set_text("workload=copy");
  CHECK_FALSE(scaling_curve(copy, never));
  CHECK_FALSE(scaling_curve(ddp({}), [] { return true; }));
}
