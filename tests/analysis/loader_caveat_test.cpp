#include "analysis/loader_caveat.h"

#include <catch2/catch.hpp>

#include "analysis/run.h"
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
  CHECK_THAT(on_one_core("128").caveat,
             Catch::Contains("8 workers take 102 ms for a batch, more than the 96.6 ms") &&
                 Catch::Contains("set steps to 192 or more"));
  CHECK(on_one_core("192").caveat.empty());
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
