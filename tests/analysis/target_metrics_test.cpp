// The time, the steps and the samples to a loss: of runs, and of traces made by hand.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "analysis/metrics/loss_curve.h"
#include "analysis/runs/run.h"
#include "analysis/runs/run_file.h"
#include "support/config.h"
#include "train/settings/loss_target.h"

using namespace trainscope;
using analysis::Run;

namespace {

Run trained(std::vector<std::string> settings) {
  settings.insert(settings.begin(), {"workload=train", "data.name=digits", "optimizer.lr=0.1",
                                     "loop.evaluate=false", "steps=60"});
  return analysis::run_config("A", test::config_of(settings));
}

std::optional<double> value(const Run& run, const char* metric) {
  return analysis::value_of(run.metrics, metric);
}

// The mean of so many losses up to a step, one after another.
double mean_at(const Run& run, std::size_t step, std::size_t steps) {
  double sum = 0;
  for (std::size_t i = step + 1 - steps; i <= step; ++i)
    sum += run.trace->steps()[static_cast<std::uint32_t>(i)].loss;
  return sum / static_cast<double>(steps);
}

}  // namespace

TEST_CASE("the step that reaches a loss is the first whose mean does, and its time is the row's") {
  const Run run = trained({"batch_size=128", "loop.target_loss=1.5"});
  REQUIRE(value(run, "steps.to_loss"));
  const auto steps = static_cast<std::size_t>(*value(run, "steps.to_loss"));
  REQUIRE(steps > 8);
  CHECK(mean_at(run, steps - 1, 8) <= 1.5);
  for (std::size_t step = 7; step + 1 < steps; ++step) CHECK(mean_at(run, step, 8) > 1.5);
  CHECK(value(run, "samples.to_loss") == 128.0 * static_cast<double>(steps));
  const Nanos row = run.trace->steps()[static_cast<std::uint32_t>(steps - 1)].time;
  CHECK(value(run, "time.to_loss") == static_cast<double>(row - run.facts.measured.whole.start));
  // The step before the first that counts for time.step counts here.
  CHECK(*value(run, "time.to_loss") > *value(run, "time.step") * static_cast<double>(steps - 1));
}

TEST_CASE("more steps change nothing of when a loss is reached") {
  const Run few = trained({"batch_size=128", "loop.target_loss=1.5"});
  const Run many = trained({"batch_size=128", "loop.target_loss=1.5", "steps=200"});
  REQUIRE(value(few, "steps.to_loss"));
  CHECK(value(few, "steps.to_loss") == value(many, "steps.to_loss"));
  CHECK(value(few, "time.to_loss") == value(many, "time.to_loss"));
}

TEST_CASE("a loss that is not reached, or not asked for, has no time") {
  for (const auto& settings : std::vector<std::vector<std::string>>{
           {"batch_size=128"},                                    // none is asked for
           {"batch_size=128", "loop.target_loss=0.001"},          // never
           {"batch_size=128", "loop.target_loss=10", "steps=7"},  // fewer than the mean is of
           {"model.name=resnet18", "data.name=imagenet", "batch_size=8",  // no numbers
            "loop.target_loss=10", "steps=3"}}) {
    const Run run = trained(settings);
    for (const char* metric : {"time.to_loss", "steps.to_loss", "samples.to_loss"}) {
      INFO(metric << " " << settings.back());
      CHECK_FALSE(value(run, metric));
    }
  }
}

TEST_CASE("a mean is of as many samples whatever the batch, and of one batch at least") {
  const auto steps_of = [](std::vector<std::string> settings) {
    settings.push_back("workload=train");
    return train::loss_target(test::config_of(settings)).steps;
  };
  CHECK(steps_of({"batch_size=32"}) == 32);
  CHECK(steps_of({"batch_size=512"}) == 2);
  CHECK(steps_of({"batch_size=1000"}) == 2);
  CHECK(steps_of({"batch_size=1024"}) == 1);
  CHECK(steps_of({"batch_size=4096"}) == 1);
  // A step's loss is a mean over its micro-batches.
  CHECK(steps_of({"batch_size=64", "accumulate_steps=4"}) == 4);
}

TEST_CASE("of several ranks the samples to a loss are those of all") {
  const std::vector<std::string> alone{"batch_size=64", "loop.target_loss=1.5"};
  std::vector<std::string> two = alone;
  two.insert(two.end(), {"machine=h200-8", "parallel.strategy=ddp", "parallel.world_size=2"});
  const Run run = trained(two);
  REQUIRE(value(run, "steps.to_loss"));
  CHECK(value(run, "samples.to_loss") == 2 * 64 * *value(run, "steps.to_loss"));
}

namespace {

// Samples of so many batches, one after another: each epoch's last is shorter.
std::int64_t counted_one_by_one(std::int64_t batches, std::int64_t batch, std::int64_t epoch) {
  std::int64_t samples = 0, left = 0;
  for (; batches > 0; --batches) {
    if (left == 0) left = epoch;
    const std::int64_t taken = std::min(batch, left);
    samples += taken;
    left -= taken;
  }
  return samples;
}

}  // namespace

TEST_CASE("the samples to a loss are those of the batches taken, shorter ones among them") {
  // digits has 10,000 samples.
  const Run run =
      trained({"batch_size=4096", "loader.drop_last=false", "loop.target_loss=2", "steps=8"});
  REQUIRE(value(run, "steps.to_loss") == 5.0);
  CHECK(value(run, "samples.to_loss") == 4096.0 + 4096 + 1808 + 4096 + 4096);
  // A step of several batches may end an epoch within it.
  for (const char* target :
       {"loop.target_loss=2.2", "loop.target_loss=2", "loop.target_loss=1.8"}) {
    CAPTURE(target);
    const Run several = trained(
        {"batch_size=1500", "accumulate_steps=3", "loader.drop_last=false", target, "steps=14"});
    REQUIRE(value(several, "steps.to_loss"));
    const auto steps = static_cast<std::int64_t>(*value(several, "steps.to_loss"));
    CHECK(value(several, "samples.to_loss") ==
          static_cast<double>(counted_one_by_one(3 * steps, 1500, 10'000)));
  }
  // Or more than one.
  const Run epochs = trained({"batch_size=6000", "accumulate_steps=3", "loader.drop_last=false",
                              "loop.target_loss=2.2", "steps=5"});
  REQUIRE(value(epochs, "steps.to_loss"));
  CHECK(value(epochs, "samples.to_loss") ==
        static_cast<double>(counted_one_by_one(
            3 * static_cast<std::int64_t>(*value(epochs, "steps.to_loss")), 6000, 10'000)));
  // Of each of two ranks, 5,000 in an epoch.
  const Run two =
      trained({"batch_size=2048", "loader.drop_last=false", "loop.target_loss=2", "machine=h200-8",
               "parallel.strategy=ddp", "parallel.world_size=2", "steps=12"});
  REQUIRE(value(two, "steps.to_loss"));
  const auto steps = static_cast<std::int64_t>(*value(two, "steps.to_loss"));
  REQUIRE(steps > 3);
  CHECK(value(two, "samples.to_loss") ==
        static_cast<double>(2 * counted_one_by_one(steps, 2048, 5'000)));
}

TEST_CASE("where no batch is shorter, the samples to a loss are so many whole batches") {
  for (const char* drop : {"loader.drop_last=true", "loader.drop_last=false"}) {
    const Run run = trained({"batch_size=2500", drop, "loop.target_loss=2", "steps=10"});
    REQUIRE(value(run, "steps.to_loss"));
    CHECK(value(run, "samples.to_loss") == 2500 * *value(run, "steps.to_loss"));
    // One batch for two GPUs.
    const Run shared = trained({"batch_size=5000", drop, "loop.target_loss=2", "steps=9",
                                "machine=h200-8", "parallel.strategy=dp", "parallel.world_size=2"});
    REQUIRE(value(shared, "steps.to_loss"));
    CHECK(value(shared, "samples.to_loss") == 5000 * *value(shared, "steps.to_loss"));
  }
}

TEST_CASE("a saved run knows what it was to reach") {
  analysis::SavedRuns saved;
  saved.executor = "sim";
  saved.runs = {std::make_shared<const Run>(
      trained({"batch_size=4096", "loader.drop_last=false", "loop.target_loss=2", "steps=8"}))};
  const auto opened = analysis::unpack_runs(analysis::pack_runs(saved), "t.tsrun");
  REQUIRE(value(*saved.runs[0], "time.to_loss"));
  CHECK(value(*opened.runs[0], "time.to_loss") == value(*saved.runs[0], "time.to_loss"));
  CHECK(value(*opened.runs[0], "steps.to_loss") == value(*saved.runs[0], "steps.to_loss"));
  CHECK(value(*opened.runs[0], "samples.to_loss") == value(*saved.runs[0], "samples.to_loss"));
}

TEST_CASE("checkpointing raises the arithmetic that a GPU does and lowers what trains a second") {
  const auto run = [](const char* checkpoint) {
    return analysis::run_config(
        "A", test::config_of({"workload=train", "model.name=gpt2", "data.name=tokens",
                              "batch_size=32", "precision=bf16", "attention.kernel=flash",
                              "machine=a100-sxm-1", "steps=3", checkpoint}));
  };
  const Run plain = run("checkpoint.enabled=false"), twice = run("checkpoint.enabled=true");
  CHECK(*value(twice, "hfu") > *value(plain, "hfu"));
  CHECK(*value(twice, "mfu") < *value(plain, "mfu"));
  for (const Run* one : {&plain, &twice})
    CHECK(*value(*one, "hfu") / *value(*one, "mfu") ==
          Approx(*value(*one, "flops.step") / *value(*one, "model.flops")));
}
