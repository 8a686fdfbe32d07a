// Pipelines alike that sum gradients between them really train: they learn what
// DistributedDataParallel learns with a rank for each pipeline, and one GPU with all batches.
#include <catch2/catch.hpp>
#include <map>

#include "training/training_run.h"

using namespace trainscope;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp", "data.name=digits", "model.hidden=30", "model.layers=4",
                    "steps=6",        "optimizer.lr=0.1", "machine=h200-8",  "loop.evaluate=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",
                    "model.seq_len=32",    "model.blocks=3", "steps=4",
                    "model.dropout=0",     "machine=h200-8", "loop.evaluate=false"};
constexpr int kMicroBatches = 4;

std::string setting(const char* knob, int number) {
  return knob + ("=" + std::to_string(number));
}

// Micro-batches of 4 samples.
Settings grid(const Settings& model, int pipelines, int degree, const Settings& more = {}) {
  return with(
      with(model,
           {"parallel.strategy=pipeline", setting("parallel.world_size", pipelines * degree),
            setting("pipeline.degree", degree), setting("pipeline.microbatches", kMicroBatches),
            setting("batch_size", 4 * kMicroBatches)}),
      more);
}

// Each rank adds up as many batches of 4, and sums them once.
Settings ddp(const Settings& model, int ranks, const Settings& more = {}) {
  Settings settings = with(
      with(model, {"parallel.strategy=ddp", setting("parallel.world_size", ranks), "batch_size=4",
                   setting("accumulate_steps", kMicroBatches), "ddp.no_sync=true"}),
      more);
  std::erase_if(settings, [](const std::string& one) { return one.starts_with("pipeline."); });
  return settings;
}

using Weights = std::map<std::string, std::vector<float>>;

// By name, of the stages of one pipeline. Both ends of one that is tied have the same.
Weights weights_of(TrainingRun& run, int pipeline) {
  Weights all;
  const program::Program& program = run.program();
  for (program::Index i = 0; i < program.buffers.size(); ++i) {
    const program::Buffer& one = program.buffers[i];
    if (one.role != program::Role::kParameter || one.device / program.gpus_of_batch != pipeline)
      continue;
    const host::Results values = run.numbers().values(i);
    const std::vector<float> numbers(values.begin(), values.end());
    CHECK(all.try_emplace(one.name, numbers).first->second == numbers);
  }
  return all;
}

double largest_difference(const Weights& a, const Weights& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (const auto& [name, values] : a)
    largest = std::max(largest, test::largest_difference(values, b.at(name)));
  return largest;
}

// Ranks with the same stages have summed the same numbers in the same order.
void check_pipelines_equal(TrainingRun& run, int pipelines) {
  for (int pipeline = 1; pipeline < pipelines; ++pipeline)
    CHECK(weights_of(run, pipeline) == weights_of(run, 0));
}

void check_as_ddp(const Settings& model, int pipelines, int degree, const Settings& more = {},
                  const Settings& of_ddp = {}) {
  INFO(model[0] << ", " << pipelines << " of " << degree << ", " << (more.empty() ? "" : more[0]));
  TrainingRun stages(grid(model, pipelines, degree, more));
  TrainingRun plain(ddp(model, pipelines, with(more, of_ddp)));
  REQUIRE_FALSE(stages.program().timing_only);
  const Weights start = weights_of(stages, 0);
  CHECK(start == weights_of(plain, 0));
  stages.finish();
  plain.finish();
  CHECK(largest_difference(weights_of(stages, 0), start) > 1e-3);
  CHECK(stages.losses().size() == plain.losses().size());
  if (pipelines == 2) {  // a sum of two is the same in either order
    CHECK(stages.losses() == plain.losses());
    CHECK(weights_of(stages, 0) == weights_of(plain, 0));
  } else {
    CHECK(largest_difference(weights_of(stages, 0), weights_of(plain, 0)) < test::kRounding);
  }
  check_pipelines_equal(stages, pipelines);
}

}  // namespace

TEST_CASE("pipelines train as ranks of DistributedDataParallel with the same batches") {
  for (const Settings& model : {kMlp, kGpt})
    for (const Settings& how : {Settings{"pipeline.schedule=gpipe"}, Settings{},
                                Settings{"pipeline.schedule=interleaved_1f1b"}}) {
      check_as_ddp(model, 2, 2, how);
      if (how != Settings{"pipeline.schedule=interleaved_1f1b"}) check_as_ddp(model, 2, 4, how);
    }
  check_as_ddp(kMlp, 4, 2);
  check_as_ddp(kMlp, 3, 2);
}

TEST_CASE("pipelines do so in every way of summing and keeping gradients") {
  const Settings interleaved{"pipeline.schedule=interleaved_1f1b"};
  for (const Settings& how :
       {Settings{"ddp.bucket_cap_mb=0.01"}, Settings{"ddp.gradient_as_bucket_view=true"},
        Settings{"zero_grad.set_to_none=false"}, Settings{"data.source=tensor"},
        Settings{"sampler.distributed=false"}, Settings{"checkpoint.enabled=true"},
        Settings{"autocast.dtype=bf16"}, Settings{"optimizer.name=adamw", "optimizer.impl=fused"},
        Settings{"ddp.find_unused_parameters=true"}, Settings{"loader.shuffle=true"}}) {
    check_as_ddp(kGpt, 2, 2, how);
    check_as_ddp(kMlp, 2, 2, with(interleaved, how));
  }
}

TEST_CASE("pipelines learn what one GPU learns of all their batches, but for rounding") {
  for (const int pipelines : {2, 4}) {
    TrainingRun whole(with(kMlp, {setting("batch_size", 4 * kMicroBatches * pipelines)}));
    TrainingRun stages(grid(kMlp, pipelines, 2));
    whole.finish();
    stages.finish();
    CHECK(largest_difference(weights_of(whole, 0), weights_of(stages, 0)) < test::kRounding);
  }
}

TEST_CASE("a slow rank of pipelines changes nothing of what they learn") {
  TrainingRun slow(grid(kMlp, 2, 2, {"straggler.rank=3", "straggler.factor=100"}));
  TrainingRun even(grid(kMlp, 2, 2));
  CHECK(slow.finish().losses() == even.finish().losses());
  CHECK(weights_of(slow, 1) == weights_of(even, 0));
  CHECK(slow.metric("time.step") > even.metric("time.step"));
}

TEST_CASE("one pipeline of all ranks is the pipeline alone, bit for bit") {
  for (const Settings& model : {kMlp, kGpt}) {
    TrainingRun all(grid(model, 1, 2)), none(grid(model, 1, 2, {"pipeline.degree=0"}));
    CHECK(all.finish().losses() == none.finish().losses());
    CHECK(weights_of(all, 0) == weights_of(none, 0));
  }
}
