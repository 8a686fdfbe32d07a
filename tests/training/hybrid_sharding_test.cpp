// Ranks that share the parameters in groups really train: however large the groups are, they learn
// what DistributedDataParallel learns.
#include <catch2/catch.hpp>

#include "training/sharded_weights.h"

using namespace trainscope;
using test::kRounding;
using test::largest_difference;
using test::Settings;
using test::trained_weights;
using test::TrainingRun;
using test::whole_weights;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp",   "data.name=digits",   "model.hidden=30",
                    "model.layers=2",   "batch_size=8",       "steps=5",
                    "optimizer.lr=0.1", "loop.evaluate=false"};
const Settings kCnn{"model.name=cnn",      "data.name=digits",       "batch_size=8",     "steps=3",
                    "loop.evaluate=false", "cudnn.allow_tf32=false", "optimizer.lr=0.05"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",   "model.seq_len=32",
                    "batch_size=4",        "steps=3",        "model.dropout=0.1"};

Settings on_ranks(const Settings& settings, int ranks, const Settings& more) {
  return with(with(settings, {"machine=h200-8", "parallel.world_size=" + std::to_string(ranks)}),
              more);
}

Settings hybrid(const Settings& settings, int ranks, int degree, const Settings& more = {}) {
  return with(on_ranks(settings, ranks,
                       {"parallel.strategy=fsdp", "fsdp.shard_degree=" + std::to_string(degree)}),
              more);
}

Settings ddp(const Settings& settings, int ranks, const Settings& more = {}) {
  return with(on_ranks(settings, ranks, {"parallel.strategy=ddp"}), more);
}

struct Groups {
  int ranks, degree;
};

// Of every group: they have summed the same numbers, in the same order.
void check_groups_equal(TrainingRun& run, const Groups& groups) {
  const std::vector<float> first = whole_weights(run, groups.degree);
  for (int rank = groups.degree; rank < groups.ranks; rank += groups.degree) {
    INFO("the group of rank " << rank);
    CHECK(whole_weights(run, groups.degree, rank) == first);
  }
}

}  // namespace

TEST_CASE("every shard group begins with the whole model") {
  for (const Settings& model : {kMlp, kGpt})
    for (const Groups groups : {Groups{4, 2}, Groups{4, 1}, Groups{6, 3}, Groups{8, 4}}) {
      TrainingRun whole(model), parts(hybrid(model, groups.ranks, groups.degree));
      REQUIRE_FALSE(parts.program().timing_only);
      CHECK(whole_weights(parts, groups.degree) == whole.weights());
      check_groups_equal(parts, groups);
    }
}

TEST_CASE("ranks that share in groups train as those that all share, and as those that do not") {
  for (const Settings& model : {kMlp, kCnn, kGpt})
    for (const Groups groups : {Groups{4, 2}, Groups{4, 1}, Groups{6, 2}, Groups{8, 4}}) {
      INFO(model[0] << ", " << groups.degree << " of " << groups.ranks);
      TrainingRun mixed(hybrid(model, groups.ranks, groups.degree));
      TrainingRun full(hybrid(model, groups.ranks, 0)), plain(ddp(model, groups.ranks));
      const std::vector<float> start = whole_weights(mixed, groups.degree);
      for (TrainingRun* run : {&mixed, &full, &plain}) run->finish();
      const std::vector<float> learned = whole_weights(mixed, groups.degree);
      CHECK(largest_difference(learned, start) > 1e3 * kRounding);
      CHECK(largest_difference(learned, whole_weights(full, groups.ranks)) < kRounding);
      CHECK(largest_difference(learned, trained_weights(plain)) < kRounding);
      check_groups_equal(mixed, groups);
    }
}

TEST_CASE("groups add up gradients of several batches, and clip by the norm of all") {
  for (const Settings& more :
       {Settings{"accumulate_steps=3"}, Settings{"accumulate_steps=3", "fsdp.gradient_sync=last"},
        Settings{"zero_grad.when=never"}, Settings{"clip_grad_norm=0.05", "optimizer.lr=1"}}) {
    INFO(more[0]);
    TrainingRun mixed(hybrid(kMlp, 4, 2, more)), full(hybrid(kMlp, 4, 0, more));
    mixed.finish();
    full.finish();
    CHECK(largest_difference(whole_weights(mixed, 2), whole_weights(full, 4)) < kRounding);
    check_groups_equal(mixed, {4, 2});
    const auto& found = mixed.trace().steps();
    if (!more[0].starts_with("clip_grad_norm")) continue;
    for (std::uint32_t step = 0; step < found.size(); ++step)
      CHECK(found[step].gradient_norm ==
            Approx(full.trace().steps()[step].gradient_norm).epsilon(1e-5));
  }
}

TEST_CASE("where one rank of one group overflows, the ranks of all groups skip the step") {
  const Settings scaled =
      with(kMlp, {"precision=fp16", "scaler.enabled=true", "steps=20", "scaler.init_scale=1e9",
                  "scaler.growth_interval=4", "clip_grad_norm=0.5"});
  TrainingRun mixed(hybrid(scaled, 4, 2)), plain(ddp(scaled, 4));
  mixed.finish();
  plain.finish();
  CHECK(mixed.skipped_steps() == plain.skipped_steps());
  CHECK(mixed.skipped_steps().size() > 3);
  const program::Index scale = mixed.program().gauges.scale;
  for (const std::size_t rank : {1, 2, 3})
    CHECK(mixed.numbers(rank).value(scale) == mixed.numbers(0).value(scale));
  CHECK(largest_difference(whole_weights(mixed, 2), plain.weights()) < 1e-3);
}

TEST_CASE("with parameters in BF16 the groups learn as one that all share, and stay alike") {
  const Settings exact{"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32", "steps=20"};
  TrainingRun mixed(hybrid(kMlp, 4, 2, exact)), full(hybrid(kMlp, 4, 0, exact));
  mixed.finish();
  full.finish();
  CHECK(mixed.losses().back() == Approx(full.losses().back()).epsilon(0.02));
  check_groups_equal(mixed, {4, 2});
}
