// Stages of a pipeline that really train: however the model is cut, and in whatever order, they are
// the model on one GPU that adds the gradients of as many micro-batches.
#include <catch2/catch.hpp>

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
const Settings kCnn{"model.name=cnn",    "data.name=digits", "steps=4",
                    "optimizer.lr=0.05", "machine=h200-8",   "loop.evaluate=false"};

// Micro-batches of 4 samples.
Settings in_stages(const Settings& settings, int stages, int micro_batches,
                   const Settings& more = {}) {
  return with(
      with(settings, {"parallel.strategy=pipeline", "parallel.world_size=" + std::to_string(stages),
                      "pipeline.microbatches=" + std::to_string(micro_batches),
                      "batch_size=" + std::to_string(4 * micro_batches)}),
      more);
}

Settings on_one_gpu(const Settings& settings, int micro_batches, const Settings& more = {}) {
  return with(with(settings, {"batch_size=4", "accumulate_steps=" + std::to_string(micro_batches)}),
              more);
}

// On one GPU there is no schedule.
Settings without_pipeline(Settings settings) {
  std::erase_if(settings, [](const std::string& one) { return one.starts_with("pipeline."); });
  return settings;
}

// As many as have stages of a model of five parts: two each, or one.
int ranks_of(const Settings& more) {
  return without_pipeline(more).size() < more.size() ? 2 : 3;
}

// By name, of all stages.
std::map<std::string, std::vector<float>> weights_of(TrainingRun& run) {
  std::map<std::string, std::vector<float>> all;
  const auto& buffers = run.program().buffers;
  for (program::Index i = 0; i < buffers.size(); ++i) {
    if (buffers[i].role != program::Role::kParameter) continue;
    const host::Results values = run.numbers().values(i);
    REQUIRE(all.try_emplace(buffers[i].name, values.begin(), values.end()).second);
  }
  return all;
}

}  // namespace

TEST_CASE("stages begin with the weights that the whole model begins with") {
  for (const Settings& model : {kMlp, kGpt, kCnn})
    for (const int stages : {1, 2, 3}) {
      TrainingRun whole(on_one_gpu(model, 4)), parts(in_stages(model, stages, 4));
      CHECK(weights_of(parts) == weights_of(whole));
    }
  for (const Settings& model : {kMlp, kGpt}) {
    TrainingRun whole(on_one_gpu(model, 4)),
        parts(in_stages(model, 2, 4, {"pipeline.schedule=interleaved_1f1b"}));
    CHECK(weights_of(parts) == weights_of(whole));
  }
}

TEST_CASE("a pipeline trains as one GPU that accumulates, bit for bit, in either order") {
  for (const Settings& model : {kMlp, kGpt, kCnn})
    for (const char* optimizer : {"optimizer.name=sgd", "optimizer.name=adamw"}) {
      TrainingRun alone(on_one_gpu(model, 4, {optimizer}));
      alone.finish();
      const auto weights = weights_of(alone);
      for (const char* schedule : {"gpipe", "1f1b"})
        for (const int stages : {1, 2, 3}) {
          INFO(model[0] << ", " << optimizer << ", " << schedule << ", " << stages << " stages");
          TrainingRun parts(in_stages(model, stages, 4,
                                      {optimizer, std::string("pipeline.schedule=") + schedule}));
          parts.finish();
          CHECK(parts.losses() == alone.losses());
          CHECK(weights_of(parts) == weights);
        }
    }
}

TEST_CASE("an interleaved pipeline trains as one GPU that accumulates, bit for bit") {
  for (const Settings& model : {kMlp, kGpt})
    for (const char* optimizer : {"optimizer.name=sgd", "optimizer.name=adamw"}) {
      TrainingRun alone(on_one_gpu(model, 4, {optimizer}));
      alone.finish();
      for (const auto& [ranks, stages, batches] :
           {std::tuple{2, 2, "true"}, {4, 1, "true"}, {4, 1, "false"}, {2, 1, "false"}}) {
        INFO(model[0] << ", " << optimizer << ", " << ranks << " ranks of " << stages << " stages");
        TrainingRun parts(in_stages(model, ranks, 4,
                                    {optimizer, "pipeline.schedule=interleaved_1f1b",
                                     "pipeline.stages_per_rank=" + std::to_string(stages),
                                     std::string("pipeline.batch_p2p_comm=") + batches}));
        parts.finish();
        CHECK(parts.losses() == alone.losses());
        CHECK(weights_of(parts) == weights_of(alone));
      }
    }
}

TEST_CASE("micro-batches of a whole batch train as the whole batch, but for rounding") {
  TrainingRun whole(with(kMlp, {"batch_size=16"})), parts(in_stages(kMlp, 3, 4));
  whole.finish();
  parts.finish();
  const auto a = weights_of(whole), b = weights_of(parts);
  for (const auto& [name, values] : a)
    CHECK(test::largest_difference(values, b.at(name)) < test::kRounding);
}

TEST_CASE("stages train on through epochs that are shuffled, and with gradients that stay") {
  const Settings epochs{"data.name=spirals", "model.inputs=2", "loader.shuffle=true", "steps=60"};
  for (const Settings& more :
       {Settings{}, Settings{"zero_grad.set_to_none=false"}, Settings{"checkpoint.enabled=true"},
        Settings{"autocast.dtype=bf16"}, Settings{"straggler.rank=1", "straggler.factor=3"},
        Settings{"pipeline.schedule=interleaved_1f1b"},
        Settings{"pipeline.schedule=interleaved_1f1b", "zero_grad.set_to_none=false",
                 "autocast.dtype=bf16"}}) {
    INFO((more.empty() ? "as it is" : more[0]));
    const bool slow = !more.empty() && more[0].starts_with("straggler");
    const Settings model = with(kMlp, epochs);
    TrainingRun alone(on_one_gpu(model, 4, slow ? Settings{} : without_pipeline(more)));
    TrainingRun parts(in_stages(model, ranks_of(more), 4, more));
    alone.finish();
    parts.finish();
    CHECK(parts.losses() == alone.losses());
    CHECK(weights_of(parts) == weights_of(alone));
  }
}

TEST_CASE("dropout draws on each stage, so that stages are not the whole model's masks") {
  const Settings dropout{"model.dropout=0.2"};
  TrainingRun once(in_stages(kGpt, 3, 4, dropout)), again(in_stages(kGpt, 3, 4, dropout));
  once.finish();
  again.finish();
  CHECK(once.losses() == again.losses());
  CHECK(once.losses().size() == 4);
}
