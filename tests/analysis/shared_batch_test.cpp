// Runs in which several GPUs share one batch: what is told of each of them, and of all.
#include <catch2/catch.hpp>

#include "analysis/run.h"
#include "analysis/run_file.h"
#include "base/temporary_folder.h"
#include "support/config.h"

using namespace trainscope;
using analysis::Run;

namespace {

Run run_of(const std::vector<std::string>& more) {
  std::vector<std::string> settings{"workload=train", "machine=h100-sxm-8",  "model.name=mlp",
                                    "model.layers=7", "model.hidden=4096",   "batch_size=8192",
                                    "steps=3",        "loop.evaluate=false", "optimizer.name=sgd"};
  settings.insert(settings.end(), more.begin(), more.end());
  return analysis::run_config("A", test::config_of(settings));
}

Run shared(const char* strategy) {
  return run_of({std::string("parallel.strategy=") + strategy, "parallel.world_size=4"});
}

double value(const Run& run, const char* metric) {
  return analysis::value_of(run.metrics, metric).value();
}

}  // namespace

TEST_CASE(
    "GPUs that share a batch are as efficient as a quarter of one that is four times as fast") {
  const Run alone = run_of({});
  for (const char* strategy : {"tensor", "pipeline"}) {
    INFO(strategy);
    const Run run = shared(strategy);
    CHECK(run.program->gpus_of_batch == 4);
    CHECK(value(run, "scaling.efficiency") ==
          Approx(value(alone, "time.step") / value(run, "time.step") / 4).epsilon(0.02));
    CHECK(value(run, "throughput.samples") ==
          Approx(8192 / value(run, "time.step") * 1e9).epsilon(0.01));
  }
}

TEST_CASE("MFU of GPUs that share a batch is that of each") {
  const Run alone = run_of({}), run = shared("tensor");
  const double peak = value(alone, "flops.achieved") / value(alone, "mfu");
  CHECK(value(run, "flops.achieved") / value(run, "mfu") == Approx(4 * peak).epsilon(1e-6));
  CHECK(value(run, "mfu") < value(alone, "mfu"));
}

TEST_CASE("how many GPUs share a batch comes back with a saved run") {
  const test::TemporaryFolder folder;
  const Run run = shared("tensor");
  analysis::SavedRuns saved;
  saved.version = "1.2.3";
  saved.executor = "sim";
  saved.runs.push_back(std::make_shared<Run>(run));
  analysis::save_runs(saved, folder.path() / "shared.tsrun");
  const analysis::SavedRuns after = analysis::open_runs(folder.path() / "shared.tsrun");
  REQUIRE(after.runs.size() == 1);
  CHECK(after.runs[0]->program->gpus_of_batch == 4);
  CHECK(value(*after.runs[0], "mfu") == Approx(value(run, "mfu")));
  CHECK(value(*after.runs[0], "scaling.efficiency") == Approx(value(run, "scaling.efficiency")));
}
