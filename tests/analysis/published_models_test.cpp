// How long the published models take, against what is published of their order.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "support/config.h"
#include "support/metric_value.h"

using namespace trainscope;
using analysis::Run;
using test::Settings;
using test::value;
using test::with;

namespace {

Run run(const Settings& settings, const Settings& more = {}) {
  const Settings common{"data.source=tensor", "steps=4"};
  return analysis::run_config("A", test::config_of(with(with(common, settings), more)));
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

const Settings kFused{"compile.fuse=true"};
const Settings kReplayed{"compile.fuse=true", "compile.cuda_graph=true"};

double speedup(const Settings& settings, const Settings& compiled) {
  return value(run(settings), "time.step") / value(run(settings, compiled), "time.step");
}

// A transformer in mixed precision, of one sequence a step.
Settings transformer(const char* model, const char* machine, const char* batch,
                     const char* length) {
  return {std::string("model.name=").append(model),
          std::string("machine=").append(machine),
          std::string("batch_size=").append(batch),
          std::string("model.seq_len=").append(length),
          "precision=bf16",
          "optimizer.name=adamw",
          "optimizer.impl=fused"};
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

// ml-engineering's torch.compile tables, B200, from eager over mode default to reduce-overhead:
// forward and backward of a 1B model on 512 tokens 48.8, 12.6 and 8.1 ms; of an 8B model on 8192
// tokens 590.7 and 630.2 ms.
TEST_CASE(
    "graphs and fusion make a small model three times as fast, and leave a large one as it is") {
  for (const char* machine : {"h200-1", "b200-1"}) {
    INFO(machine);
    CHECK(speedup(transformer("gpt2", machine, "1", "128"), kReplayed) >= 3);
  }
  for (const char* machine : {"a100-sxm-1", "h200-1", "b200-1"}) {
    INFO(machine);
    // Of 50272 tokens, a multiple of 8: padding of odd rows is another gain of torch.compile.
    Settings large = transformer("opt-1.3b", machine, "8", "2048");
    large.emplace_back("attention.kernel=flash");  // as F.scaled_dot_product_attention chooses
    large.insert(large.end(), {"precision=fp32", "model.dtype=bf16"});  // no casts to be fused
    CHECK(speedup(large, kReplayed) == Approx(1).epsilon(0.1));
  }
}

TEST_CASE("a replayed model is as fast as a slower GPU computes it, and no faster") {
  const Settings small = transformer("gpt2", "a100-sxm-1", "1", "128");
  const Run eager = run(small), replayed = run(small, kReplayed);
  CHECK(value(eager, "gpu.busy") < 0.5 * value(eager, "time.step"));
  CHECK(value(replayed, "gpu.busy") > 0.85 * value(replayed, "time.step"));
}

TEST_CASE("fusion helps a small model, and a graph of what is fused helps more") {
  const Settings small = transformer("gpt2", "b200-1", "1", "128");
  const double fused = speedup(small, kFused), replayed = speedup(small, kReplayed);
  CHECK(fused > 1.1);
  CHECK(replayed > 1.5 * fused);
}

TEST_CASE("a replayed model needs less of the host, and its kernels wait less for launches") {
  const Settings small = transformer("gpt2", "h200-1", "1", "128");
  const Run eager = run(small), replayed = run(small, kReplayed);
  CHECK(value(replayed, "launch.calls") < 0.1 * value(eager, "launch.calls"));
  CHECK(value(replayed, "idle.launch") < 0.3 * value(eager, "idle.launch"));
  CHECK(value(replayed, "gpu.util") > value(eager, "gpu.util"));
}

TEST_CASE("fusion keeps what leaves a kernel, and graphs keep it between steps") {
  Settings model = transformer("gpt2", "h200-1", "8", "512");
  model.emplace_back("attention.kernel=flash");  // no matrix of scores beside what is fused
  const Run eager = run(model), fused = run(model, kFused), replayed = run(model, kReplayed);
  const auto peak = [](const Run& one) { return value(one, "memory.peak_allocated"); };
  CHECK(peak(fused) < peak(eager));
  CHECK(peak(replayed) > peak(fused));
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
