// Updates that are too small for the type of the weights.

#include <catch2/catch.hpp>

#include "analysis/metrics/learning.h"
#include "support/config.h"
#include "training/training_run.h"

using namespace trainscope;
using test::Settings;
using test::TrainingRun;
namespace {

const Settings kOneStep{"workload=train",  "data.name=digits",    "batch_size=32",
                        "model.hidden=32", "loop.evaluate=false", "steps=1"};

std::vector<float> gradients_of(TrainingRun& run) {
  std::vector<float> all;
  for (const program::Index buffer : run.program().gauges.gradients) {
    const host::Results values = run.numbers().values(buffer);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

std::optional<double> lost(const Settings& more) {
  TrainingRun run(test::with(kOneStep, more));
  return analysis::learning(run.finish().trace()).lost_updates;
}

}  // namespace

TEST_CASE("lost updates are the weights that have a gradient and stay as they are") {
  const Settings ways[] = {{"model.dtype=bf16"},
                           {"model.dtype=fp16"},
                           {"autocast.dtype=bf16"},
                           {"model.dtype=bf16", "optimizer.momentum=0.9"},
                           {"model.dtype=bf16", "optimizer.name=adamw", "optimizer.lr=0.0001"},
                           {"model.dtype=bf16", "optimizer.impl=fused"},
                           {"autocast.dtype=fp16", "scaler.enabled=true"}};
  for (const Settings& way : ways) {
    INFO(way.front() << " " << way.back());
    TrainingRun run(test::with(kOneStep, way));
    const std::vector<float> before = run.weights();
    run.finish();
    const std::vector<float> after = run.weights(), gradients = gradients_of(run);
    REQUIRE(gradients.size() == before.size());
    std::int64_t updated = 0, stayed = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (gradients[i] == 0) continue;
      ++updated;
      stayed += after[i] == before[i] ? 1 : 0;
    }
    REQUIRE(updated > 0);
    const trace::TrainingStep& step = run.trace().steps()[0];
    CHECK(step.updated == updated);
    CHECK(step.lost_updates == stayed);
  }
}

TEST_CASE("the share of lost updates falls with the rate, and FP32 weights lose next to none") {
  const char* narrow = "model.dtype=bf16";
  const double small = lost({narrow, "optimizer.lr=0.001"}).value();
  const double large = lost({narrow, "optimizer.lr=1"}).value();
  CHECK(small > 0.8);
  CHECK(large < 0.5 * small);
  CHECK(lost({narrow, "optimizer.lr=0"}).value() == 1);
  CHECK(lost({"autocast.dtype=bf16", "optimizer.lr=0.001"}).value() < 0.02);
}

TEST_CASE("a step that is skipped has no updates to lose") {
  TrainingRun run(test::with(
      kOneStep, {"autocast.dtype=fp16", "scaler.enabled=true", "scaler.init_scale=1e30"}));
  run.finish();
  REQUIRE(run.trace().steps()[0].skipped);
  CHECK(run.trace().steps()[0].updated == 0);
}

TEST_CASE("a run that notes no gradients has no share of lost updates") {
  CHECK(!lost({}).has_value());
}
