// Ranks that have parts of the layers really train: together they are the model on one GPU, but for
// the order in which sums are rounded.
#include <catch2/catch.hpp>

#include "training/training_run.h"

using namespace trainscope;
using test::TrainingRun;
using test::with;

namespace {

using Settings = std::vector<std::string>;

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

// A parameter's numbers as they lie in the whole: of each run a part from every rank.
std::vector<float> whole_of(TrainingRun& run, program::Index parameter, std::size_t ranks) {
  const program::Initial& initial = run.program().buffers[parameter].initial;
  const auto part = [&](std::size_t rank) {
    const host::Results values = run.numbers(rank).values(parameter);
    return std::vector<float>(values.begin(), values.end());
  };
  if (!initial.by_rank) return part(0);
  std::vector<float> whole;
  const std::size_t length = part(0).size() / static_cast<std::size_t>(initial.runs);
  for (std::int64_t i = 0; i < initial.runs; ++i)
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const std::vector<float> own = part(rank);
      const auto from = own.begin() + i * static_cast<std::ptrdiff_t>(length);
      whole.insert(whole.end(), from, from + static_cast<std::ptrdiff_t>(length));
    }
  return whole;
}

std::vector<float> weights_of(TrainingRun& run, std::size_t ranks) {
  std::vector<float> all;
  for (const program::Index parameter : run.parameters()) {
    const std::vector<float> one = whole_of(run, parameter, ranks);
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

double largest_difference_of_losses(const TrainingRun& a, const TrainingRun& b) {
  const std::vector<double> left = a.losses(), right = b.losses();
  REQUIRE(left.size() == right.size());
  REQUIRE(left.size() > 4);
  double largest = 0;
  for (std::size_t i = 0; i < left.size(); ++i)
    largest = std::max(largest, std::abs(left[i] - right[i]));
  return largest;
}

}  // namespace

TEST_CASE("parts begin as those of the whole model do") {
  for (const Settings& model : {kMlp, kGpt})
    for (const int ranks : {1, 2, 4}) {
      INFO(model[0] << ", " << ranks << " ranks");
      TrainingRun whole(model), parts(on_ranks(model, ranks));
      CHECK(weights_of(parts, static_cast<std::size_t>(ranks)) == whole.weights());
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
        CHECK(test::largest_difference(weights_of(parts, static_cast<std::size_t>(ranks)),
                                       alone.weights()) < 1e-3);
        for (const program::Index parameter : parts.parameters()) {
          if (parts.program().buffers[parameter].initial.by_rank) continue;
          const host::Results first = parts.numbers(0).values(parameter);
          const host::Results last =
              parts.numbers(static_cast<std::size_t>(ranks) - 1).values(parameter);
          CHECK(std::equal(first.begin(), first.end(), last.begin(), last.end()));
        }
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
