#include "analysis/caveats/loader_caveat.h"

#include <catch2/catch.hpp>

#include "analysis/runs/run.h"
#include "support/config.h"

using namespace trainscope;

namespace {

// A batch of 128 samples of 8 ms takes a worker 1.024 s; a step on the GPU some milliseconds.
analysis::Run with_workers(const std::string& workers, const std::string& steps) {
  return analysis::run_config(
      "A", test::config_of({"workload=train", "model.name=resnet50", "batch_size=128",
                            "loader.sample_ms=8", "data.source=loader",
                            "loader.num_workers=" + workers, "steps=" + steps}));
}

}  // namespace

TEST_CASE("steps that end before the batches loaded ahead are used up say that they do") {
  const analysis::Run early = with_workers("8", "6");
  CHECK_THAT(early.caveat, Catch::Contains("8 workers take 128 ms for a batch") &&
                               Catch::Contains("set steps to 192 or more"));
  const double step = *analysis::value_of(early.metrics, "time.step");
  CHECK(step < 128e6);

  // What the steps do not show, the epoch says.
  CHECK(*analysis::value_of(early.metrics, "time.epoch") ==
        Approx(128e6 * early.program->steps_per_epoch));

  const analysis::Run later = with_workers("8", "192");
  CHECK(later.caveat.empty());
  CHECK(*analysis::value_of(later.metrics, "time.step") == Approx(128e6).epsilon(0.05));
}

TEST_CASE("where a step takes several batches, it is all of them that a loader must bring") {
  const analysis::Run run = analysis::run_config(
      "A", test::config_of({"workload=train", "model.name=resnet50", "batch_size=32", "steps=6",
                            "accumulate_steps=4", "loader.sample_ms=8", "loader.num_workers=8"}));
  CHECK_THAT(run.caveat, Catch::Contains("8 workers take 128 ms for the batches of a step"));
}

TEST_CASE("a loader that is a sixteenth too slow is told as well, and a twentieth is not") {
  const auto on_one_core = [](const char* steps) {
    return analysis::run_config(
        "A", test::config_of({"workload=train", "model.name=resnet18", "batch_size=32",
                              "host.cores=1", "loader.num_workers=8", "loader.sample_ms=3",
                              std::string("steps=") + steps}));
  };
  CHECK_THAT(
      on_one_core("128").caveat,
      Catch::Contains("8 workers, on 1 core, take 102 ms for a batch, more than the 96.6 ms") &&
          Catch::Contains("set steps to 192 or more"));
  CHECK(on_one_core("192").caveat.empty());
}

// A batch of 32 samples of 5 ms takes a core 160 ms.
TEST_CASE("workers load no faster than their cores, however few of them a short run has work for") {
  const auto on_two_cores = [](const char* steps) {
    return analysis::run_config(
        "A", test::config_of({"workload=train", "model.name=resnet18", "batch_size=32",
                              "host.cores=2", "loader.num_workers=16", "loader.sample_ms=5",
                              std::string("steps=") + steps}));
  };
  const analysis::Run early = on_two_cores("4");
  CHECK_THAT(early.caveat, Catch::Contains("16 workers, on 2 cores, take 80 ms for a batch"));
  CHECK(*analysis::value_of(early.metrics, "time.epoch") ==
        Approx(80e6 * early.program->steps_per_epoch));
  const analysis::Run later = on_two_cores("384");
  CHECK(later.caveat.empty());
  CHECK(*analysis::value_of(later.metrics, "time.step") == Approx(80e6).epsilon(0.05));
}

TEST_CASE("workers of all ranks of a node share its cores, whether one rank is simulated or all") {
  const auto caveat = [](const std::vector<std::string>& more) {
    std::vector<std::string> settings{
        "workload=train",        "machine=h100-sxm-8",    "model.name=resnet18",
        "batch_size=32",         "loader.num_workers=32", "loader.sample_ms=20",
        "parallel.strategy=ddp", "parallel.world_size=8", "steps=4"};
    settings.insert(settings.end(), more.begin(), more.end());
    return analysis::run_config("A", test::config_of(settings)).caveat;
  };
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"straggler.rank=1", "straggler.factor=1.1"}})
    CHECK_THAT(caveat(more),
               Catch::Contains("32 workers, of 256 on 112 cores, take 45.7 ms for a batch"));
}

TEST_CASE("files that all workers read come no faster than the disk gives them") {
  const analysis::Run run = analysis::run_config(
      "A", test::config_of({"workload=train", "model.name=resnet18", "batch_size=32", "steps=4",
                            "loader.num_workers=64", "loader.sample_bytes=10000000"}));
  const double loading = 32 * 10e6 / run.machine->host.disk_bytes_per_s * 1e9;
  CHECK(*analysis::loading_in_the_long_run(run.facts.measured) == Approx(loading));
  CHECK_FALSE(analysis::cores_full_of_workers(run.facts.measured));
}

TEST_CASE("a loader that keeps up, and one without workers, need no more steps") {
  CHECK(with_workers("0", "2").caveat.empty());
  CHECK(analysis::run_config("A", test::config_of({"workload=train"})).caveat.empty());
  CHECK(analysis::run_config(
            "A", test::config_of({"workload=train", "model.name=resnet50", "batch_size=32",
                                  "loader.num_workers=4", "loader.sample_ms=0.1", "steps=6"}))
            .caveat.empty());
}

TEST_CASE("photos at no cost to speak of are told, unless a config says what they cost") {
  const auto words = [](const std::vector<std::string>& settings) {
    return analysis::free_loading(test::config_of(settings));
  };
  for (const char* one : {"model.name=resnet50", "data.name=imagenet"})
    CHECK_THAT(words({one}), Catch::StartsWith("loader.sample_ms = 0.001: batches cost nothing"));
  CHECK(words({"model.name=resnet50", "loader.sample_ms=5"}) == "");
  CHECK(words({"model.name=resnet50", "loader.sample_ms=0.001"}) == "");
  CHECK(words({"model.name=resnet50", "loader.sample_bytes=100000"}) == "");
  CHECK(words({"model.name=resnet50", "data.source=tensor"}) == "");
  CHECK(words({"model.name=resnet50", "data.location=device"}) == "");
  CHECK(words({"model.name=resnet50", "data.name=cifar10"}) == "");
  CHECK(words({"workload=copy", "data.name=imagenet"}) == "");
  CHECK(words({}) == "");
}
