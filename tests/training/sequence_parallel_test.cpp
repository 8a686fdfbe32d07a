// Ranks that have parts of the sequence really train: together they are the model on one GPU, but
// for the order in which sums are rounded.
#include <catch2/catch.hpp>

#include "training/cut_weights.h"

using namespace trainscope;
using test::cut_weights;
using test::largest_difference_of_losses;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kGpt{"model.name=gpt-mini", "data.name=text",     "model.width=32", "model.heads=4",
                    "model.seq_len=32",    "model.blocks=3",     "steps=6",        "batch_size=4",
                    "machine=h200-8",      "loop.evaluate=false"};

Settings on_ranks(int ranks, const Settings& more = {}) {
  return with(with(kGpt, {"parallel.strategy=tensor", "tensor.sequence_parallel=true",
                          "parallel.world_size=" + std::to_string(ranks)}),
              more);
}

}  // namespace

TEST_CASE("ranks with parts of the sequence train as one GPU, but for rounding") {
  for (const Settings& how :
       {Settings{}, Settings{"optimizer.name=sgd"}, Settings{"accumulate_steps=2"},
        Settings{"checkpoint.enabled=true"}, Settings{"zero_grad.when=never"},
        Settings{"zero_grad.set_to_none=false"}, Settings{"loader.shuffle=true"},
        Settings{"optimizer.name=adamw", "optimizer.impl=fused"}, Settings{"batch_size=1"},
        Settings{"attention.kernel=flash"}}) {
    TrainingRun alone(with(kGpt, how));
    alone.finish();
    for (const int ranks : {2, 4}) {
      INFO((how.empty() ? "" : how[0]) << ", " << ranks << " ranks");
      TrainingRun parts(on_ranks(ranks, how));
      parts.finish();
      CHECK(largest_difference_of_losses(parts, alone) < 1e-4);
      CHECK(test::largest_difference(cut_weights(parts, ranks), alone.weights()) < 1e-3);
      test::check_same_where_whole(parts, ranks);
    }
  }
}

TEST_CASE("of one rank alone the sequence is whole, bit for bit") {
  TrainingRun alone(kGpt), one(on_ranks(1));
  CHECK(alone.finish().losses() == one.finish().losses());
  CHECK(alone.weights() == one.weights());
}

// torch.distributed.tensor's draws of a rank begin behind those of the ranks before it, as if parts
// lay one behind the other: so they do of one sample.
TEST_CASE("dropout of one sample draws what one GPU draws, and of several for each token anew") {
  const Settings drops{"model.dropout=0.1"}, one_sample{"model.dropout=0.1", "batch_size=1"};
  TrainingRun alone(with(kGpt, one_sample)), parts(on_ranks(4, one_sample));
  CHECK(largest_difference_of_losses(parts.finish(), alone.finish()) < 1e-4);
  CHECK(test::largest_difference(cut_weights(parts, 4), alone.weights()) < 1e-3);

  TrainingRun several(with(kGpt, drops)), others(on_ranks(4, drops));
  const double difference = largest_difference_of_losses(others.finish(), several.finish());
  CHECK(difference > 1e-4);
  CHECK(difference < 0.1);
  TrainingRun again(on_ranks(4, with(drops, {"checkpoint.enabled=true"})));
  CHECK(again.finish().losses() == others.losses());
}

TEST_CASE("under BF16 autocast ranks with parts of the sequence train about as one GPU does") {
  TrainingRun alone(with(kGpt, {"precision=bf16"})), parts(on_ranks(2, {"precision=bf16"}));
  alone.finish();
  parts.finish();
  const double difference = largest_difference_of_losses(parts, alone);
  CHECK(difference > 0);
  CHECK(difference < 0.02);
}
