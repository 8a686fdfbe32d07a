// How long the published models take, against what is published of their order.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/run.h"

using namespace trainscope;
using analysis::Run;

namespace {

using Settings = std::vector<std::string>;

Run run(const Settings& settings, const Settings& more = {}) {
  program::Config config;
  for (const char* setting : {"data.source=tensor", "steps=4"}) config.set_text(setting);
  for (const Settings* list : {&settings, &more})
    for (const std::string& setting : *list) config.set_text(setting);
  return analysis::run_config("A", config);
}

double value(const Run& run, const char* name) {
  const auto found = analysis::value_of(run.metrics, name);
  INFO(name);
  REQUIRE(found);
  return *found;
}

Settings resnet50(const std::string& machine, const std::string& batch) {
  return {"model.name=resnet50", std::string("machine=").append(machine),
          std::string("batch_size=").append(batch)};
}

const Settings kMixed{"precision=fp16", "scaler.enabled=true"};

double mixed_speedup(const std::string& machine, const std::string& batch) {
  const Settings model = resnet50(machine, batch);
  return value(run(model), "time.step") / value(run(model, kMixed), "time.step");
}

double compiled_speedup(const Settings& settings) {
  return value(run(settings), "time.step") /
         value(run(settings, {"host.profile=pytorch-compiled"}), "time.step");
}

}  // namespace

TEST_CASE("mixed precision makes large batches of ResNet-50 faster") {
  // NVIDIA DeepLearningExamples: A100, from TF32, 2.63; V100 3.26; T4 (inference) 2.9.
  for (const char* machine : {"a100-sxm-1", "v100-sxm-1", "t4-1"}) {
    INFO(machine);
    CHECK(mixed_speedup(machine, "64") > 1);
  }
}

TEST_CASE("mixed precision makes a step slower where the host sets its length") {
  // NVIDIA DeepLearningExamples: 0.81 for inference over one image. Autocast's casts are launches.
  const Settings one = resnet50("a100-sxm-1", "1");
  const Run full = run(one), mixed = run(one, kMixed);
  CHECK(value(mixed, "launch.calls") > value(full, "launch.calls"));
  CHECK(value(mixed, "gpu.busy") < value(mixed, "time.step"));
  CHECK(mixed_speedup("a100-sxm-1", "1") < 1);
}

TEST_CASE("the smaller the batch, the less mixed precision gains") {
  for (const char* machine : {"a100-sxm-1", "v100-sxm-1", "t4-1"}) {
    INFO(machine);
    CHECK(mixed_speedup(machine, "1") < mixed_speedup(machine, "8"));
    CHECK(mixed_speedup(machine, "8") < mixed_speedup(machine, "64"));
  }
}

TEST_CASE("cheaper launches make a small model faster, and leave a large one as it is") {
  // ml-engineering's torch.compile tables: 3.3 and more for a 1B model of short sequences, none for
  // an 8B model of long ones.
  const double small = compiled_speedup({"model.name=mlp"});
  const double large = compiled_speedup({"model.name=resnet50", "batch_size=256"});
  CHECK(small > large);
  CHECK(large == Approx(1).epsilon(0.1));
}

TEST_CASE("training ResNet-50 holds what its activations, weights and gradients take") {
  // What PyTorch keeps of a batch of two is 170.8 MB (tests/golden/models.json); 25.6 M parameters
  // and gradients, in FP32. Mixed precision keeps half of the activations and a copy of the
  // weights.
  constexpr double kKept = 256 / 2 * 170'835'268.0, kModel = 2 * 4 * 25'557'032.0;
  const double full = value(run(resnet50("a100-sxm-1", "256")), "memory.peak_allocated");
  const double mixed = value(run(resnet50("a100-sxm-1", "256"), kMixed), "memory.peak_allocated");
  CHECK(full > kKept);
  CHECK(full < 1.1 * (kKept + kModel));
  CHECK(mixed > kKept / 2);
  CHECK(mixed < 0.6 * full);
}

TEST_CASE("a GPU that is too small is out of memory, and says what fills it") {
  CHECK(run(resnet50("t4-1", "256")).ending);
  CHECK_FALSE(run(resnet50("t4-1", "256"), kMixed).ending);
}
