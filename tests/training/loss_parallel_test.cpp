// Ranks that share out the vocabulary really train: together they are the model on one GPU, but for
// the order in which sums are rounded. The text has 49 characters, so that the last rank of several
// has fewer rows than the others.
#include <catch2/catch.hpp>

#include "training/cut_weights.h"

using namespace trainscope;
using test::largest_difference_of_losses;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kGpt{"model.name=gpt-mini", "data.name=text",     "model.width=32", "model.heads=4",
                    "model.seq_len=32",    "model.blocks=2",     "steps=6",        "batch_size=4",
                    "machine=h200-8",      "loop.evaluate=false"};

Settings on_ranks(int ranks, const Settings& more = {}) {
  return with(with(kGpt, {"parallel.strategy=tensor", "tensor.loss_parallel=true",
                          "parallel.world_size=" + std::to_string(ranks)}),
              more);
}

// Without what pads the part of the last rank.
std::vector<float> whole_weights(TrainingRun& run, TrainingRun& alone, int ranks) {
  std::vector<float> all;
  const std::vector<program::Index> parameters = run.parameters(), of_one = alone.parameters();
  REQUIRE(parameters.size() == of_one.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    std::vector<float> one = test::whole_of(run, parameters[i], static_cast<std::size_t>(ranks));
    const std::size_t size = alone.numbers().values(of_one[i]).size();
    INFO(run.program().buffers[parameters[i]].name);
    REQUIRE(one.size() >= size);
    REQUIRE(one.size() < size + static_cast<std::size_t>(ranks) * 32);
    one.resize(size);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

void check_as_alone(const Settings& how, int ranks, const Settings& of_ranks = {}) {
  INFO((how.empty() ? "" : how[0]) << ", " << ranks << " ranks");
  TrainingRun alone(with(kGpt, how)), parts(on_ranks(ranks, with(how, of_ranks)));
  REQUIRE_FALSE(parts.program().timing_only);
  CHECK(whole_weights(parts, alone, ranks) == alone.weights());
  const std::vector<float> start = alone.weights();
  alone.finish();
  parts.finish();
  CHECK(test::largest_difference(alone.weights(), start) > 1e-2);
  CHECK(largest_difference_of_losses(parts, alone) < 1e-4);
  CHECK(test::largest_difference(whole_weights(parts, alone, ranks), alone.weights()) < 1e-3);
  test::check_same_where_whole(parts, ranks);
}

const Settings kSequence{"tensor.sequence_parallel=true"};

}  // namespace

TEST_CASE("ranks that share out the vocabulary train as one GPU, but for rounding") {
  for (const Settings& how :
       {Settings{}, Settings{"optimizer.name=sgd"}, Settings{"accumulate_steps=2"},
        Settings{"checkpoint.enabled=true"}, Settings{"zero_grad.when=never"},
        Settings{"zero_grad.set_to_none=false"},
        Settings{"optimizer.name=adamw", "optimizer.impl=fused"}, Settings{"batch_size=1"},
        Settings{"model.dropout=0"}})
    for (const int ranks : {2, 4}) check_as_alone(how, ranks);
}

TEST_CASE("they do so with parts of the sequence, too") {
  for (const Settings& how :
       {Settings{"model.dropout=0"}, Settings{"batch_size=1"},
        Settings{"model.dropout=0", "accumulate_steps=2"},
        Settings{"model.dropout=0", "checkpoint.enabled=true"},
        Settings{"model.dropout=0", "optimizer.name=adamw", "optimizer.impl=fused"}})
    for (const int ranks : {2, 4}) check_as_alone(how, ranks, kSequence);
}

TEST_CASE("tensor groups that share out the vocabulary train as ranks of DDP") {
  for (const Settings& how : {Settings{}, kSequence}) {
    TrainingRun alone(with(kGpt, {"parallel.strategy=ddp", "parallel.world_size=2", "batch_size=2",
                                  "model.dropout=0"}));
    TrainingRun groups(
        on_ranks(4, with(how, {"tensor.degree=2", "batch_size=2", "model.dropout=0"})));
    alone.finish();
    groups.finish();
    CHECK(largest_difference_of_losses(groups, alone) < 1e-4);
    CHECK(test::largest_difference(whole_weights(groups, alone, 2), alone.weights()) < 1e-3);
  }
}

TEST_CASE("losses and weights are those of ranks with the vocabulary whole, but for rounding") {
  TrainingRun alone(kGpt);  // as large as they are
  TrainingRun whole(on_ranks(2, {"tensor.loss_parallel=false"})), shared(on_ranks(2));
  whole.finish();
  shared.finish();
  CHECK(largest_difference_of_losses(shared, whole) < 1e-4);
  const double difference =
      test::largest_difference(whole_weights(shared, alone, 2), test::cut_weights(whole, 2));
  CHECK(difference > 0);
  CHECK(difference < 1e-3);
}

TEST_CASE("under BF16 they train about as one GPU does") {
  for (const Settings& how : {Settings{"precision=bf16"}, Settings{"model.dtype=bf16"}})
    for (const Settings& more : {Settings{}, kSequence}) {
      INFO(how[0]);
      const Settings no_dropout{"model.dropout=0"};
      TrainingRun alone(with(with(kGpt, how), no_dropout));
      TrainingRun parts(on_ranks(2, with(with(how, more), no_dropout)));
      CHECK(largest_difference_of_losses(parts.finish(), alone.finish()) < 0.03);
      const double difference =
          test::largest_difference(whole_weights(parts, alone, 2), alone.weights());
      CHECK(difference > 0);
      CHECK(difference < 0.03);
    }
}
