// Ranks that have parts of the layers really train: together they are the model on one GPU, but for
// the order in which sums are rounded.
#include <catch2/catch.hpp>

#include "training/cut_weights.h"

using namespace trainscope;
using test::cut_weights;
using test::largest_difference_of_losses;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp",   "data.name=digits", "model.hidden=32",
                    "model.layers=4",   "batch_size=16",    "steps=8",
                    "optimizer.lr=0.1", "machine=h200-8",   "loop.evaluate=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text",     "model.width=32", "model.heads=4",
                    "model.seq_len=32",    "model.blocks=3",     "steps=6",        "batch_size=4",
                    "machine=h200-8",      "loop.evaluate=false"};

Settings on_ranks(const Settings& settings, int ranks, const Settings& more = {}) {
  return with(
      with(settings, {"parallel.strategy=tensor", "parallel.world_size=" + std::to_string(ranks)}),
      more);
}

}  // namespace

TEST_CASE("parts begin as those of the whole model do") {
  for (const Settings& model : {kMlp, kGpt})
    for (const int ranks : {1, 2, 4}) {
      INFO(model[0] << ", " << ranks << " ranks");
      TrainingRun whole(model), parts(on_ranks(model, ranks));
      CHECK(cut_weights(parts, ranks) == whole.weights());
    }
}

TEST_CASE(
    "ranks train as one GPU, but for rounding, and keep the same numbers where they are whole") {
  for (const Settings& model : {kMlp, kGpt})
    for (const Settings& how :
         {Settings{}, Settings{"optimizer.name=sgd"}, Settings{"accumulate_steps=2"},
          Settings{"checkpoint.enabled=true"}, Settings{"zero_grad.when=never"},
          Settings{"loader.shuffle=true"}}) {
      TrainingRun alone(with(model, how));
      alone.finish();
      for (const int ranks : {2, 4}) {
        INFO(model[0] << ", " << (how.empty() ? "" : how[0]) << ", " << ranks << " ranks");
        TrainingRun parts(on_ranks(model, ranks, how));
        parts.finish();
        CHECK(largest_difference_of_losses(parts, alone) < 1e-4);
        CHECK(test::largest_difference(cut_weights(parts, ranks), alone.weights()) < 1e-3);
        test::check_same_where_whole(parts, ranks);
      }
    }
}

TEST_CASE("one rank alone trains as one GPU does, bit for bit") {
  for (const Settings& model : {kMlp, kGpt}) {
    TrainingRun alone(model), one(on_ranks(model, 1));
    CHECK(alone.finish().losses() == one.finish().losses());
    CHECK(alone.weights() == one.weights());
  }
}

TEST_CASE("under BF16 autocast ranks train about as one GPU does") {
  TrainingRun alone(with(kGpt, {"precision=bf16"})), parts(on_ranks(kGpt, 2, {"precision=bf16"}));
  alone.finish();
  parts.finish();
  const double difference = largest_difference_of_losses(parts, alone);
  CHECK(difference > 0);
  CHECK(difference < 0.02);
}
