// Runs in which several GPUs share one batch: what is told of each of them, and of all.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "analysis/runs/run.h"
#include "analysis/runs/run_file.h"
#include "analysis/runs/run_head.h"
#include "base/temporary_folder.h"
#include "support/config.h"
#include "support/metric_value.h"

using namespace trainscope;
using analysis::Run;
using test::value;

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

TEST_CASE(
    "MFU is the model's arithmetic over that of all GPUs at their peak, whatever the strategy") {
  const Run alone = run_of({});
  const double peak = alone.machine->gpu.fp32_flops_per_s;
  std::vector<Run> runs{alone, run_of({"checkpoint.enabled=true"})};
  for (const char* strategy : {"dp", "tensor", "pipeline"}) runs.push_back(shared(strategy));
  for (const char* strategy : {"ddp", "fsdp"})
    runs.push_back(run_of({std::string("parallel.strategy=") + strategy, "parallel.world_size=4",
                           "batch_size=2048"}));
  for (const Run& run : runs) {
    INFO(run.config.word("parallel.strategy"));
    const int gpus = static_cast<int>(run.config.whole("parallel.world_size"));
    const double seconds = value(run, "time.step") / 1e9;
    CHECK(value(run, "throughput.samples") * seconds == Approx(8192).epsilon(1e-9));
    CHECK(value(run, "model.flops") == Approx(value(alone, "model.flops")).epsilon(1e-12));
    CHECK(value(run, "mfu") * seconds * gpus * peak ==
          Approx(value(run, "model.flops")).epsilon(1e-9));
    CHECK(value(run, "flops.achieved") * seconds == Approx(value(run, "flops.step")).epsilon(1e-9));
    CHECK(value(run, "flops.step") > value(run, "model.flops"));
    if (gpus > 1) CHECK(value(run, "mfu") < value(alone, "mfu"));
  }
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
  CHECK(after.runs[0]->program->gpus == 4);
  CHECK(value(*after.runs[0], "model.flops") == value(run, "model.flops"));
  CHECK(value(*after.runs[0], "mfu") == Approx(value(run, "mfu")));
  CHECK(value(*after.runs[0], "scaling.efficiency") == Approx(value(run, "scaling.efficiency")));
}

TEST_CASE("a run that an older version saved has its arithmetic less what is computed twice") {
  analysis::SavedRuns saved;
  saved.runs.push_back(std::make_shared<Run>(shared("tensor")));
  nlohmann::json head = nlohmann::json::parse(analysis::write_head(saved));
  nlohmann::json& program = head["runs"][0]["program"];
  program.erase("gpus");
  program.erase("model_flops");
  program["step_flops"] = 1e12;
  program["recomputed_flops"] = 1e11;
  const analysis::Head after = analysis::read_head(head.dump());
  CHECK(after.runs[0].program->gpus == 4);
  CHECK(after.runs[0].program->step_flops == 1e12);
  CHECK(after.runs[0].program->model_flops == 9e11);
}
