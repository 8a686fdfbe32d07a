// What a real training job allocated on its GPU, against what the simulator says of the same one.

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"
#include "analysis/views/memory_counters.h"
#include "support/config.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"

using namespace trainscope;

TEST_CASE("a step of ResNet-50 allocates what it allocated on a V100") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces beside the source tree");
  const auto real =
      trace::read_chrome_trace(test::real_traces_folder() / "resnet50-v100-2021-schema.json.gz");
  const auto measured = analysis::memory_rise(*real, 0, real->end());
  REQUIRE(measured);
  CHECK(*measured == 2'791'636'480);
  // Of PyTorch of 2021, whose zero_grad writes zeros.
  const analysis::Run run = analysis::run_config(
      "A", test::config_of({"machine=v100-sxm-1", "model.name=resnet50", "batch_size=32", "steps=3",
                            "zero_grad.set_to_none=false", "loader.pin_memory=true"}));
  const auto simulated = analysis::value_of(run.metrics, "memory.rise");
  REQUIRE(simulated);
  CHECK(*simulated == Approx(*measured).epsilon(0.001));
}
