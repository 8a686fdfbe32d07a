// Ranks that share layers in groups, and sum gradients between them, really train: they learn what
// DistributedDataParallel learns with a rank for each group.
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
                    "model.layers=4",   "batch_size=8",     "steps=6",
                    "optimizer.lr=0.1", "machine=h200-8",   "loop.evaluate=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text",     "model.width=32", "model.heads=4",
                    "model.seq_len=32",    "model.blocks=2",     "steps=6",        "batch_size=2",
                    "machine=h200-8",      "loop.evaluate=false"};

std::string world(int ranks) {
  return "parallel.world_size=" + std::to_string(ranks);
}

Settings grid(const Settings& settings, int ranks, int degree, const Settings& more = {}) {
  return with(with(settings, {"parallel.strategy=tensor", world(ranks),
                              "tensor.degree=" + std::to_string(degree)}),
              more);
}

Settings ddp(const Settings& settings, int ranks, const Settings& more = {}) {
  return with(with(settings, {"parallel.strategy=ddp", world(ranks)}), more);
}

// Ranks with the same part have summed the same numbers in the same order.
void check_groups_equal(TrainingRun& run, int ranks, int degree) {
  for (int rank = degree; rank < ranks; ++rank) {
    INFO("rank " << rank);
    CHECK(run.weights(static_cast<std::size_t>(rank)) ==
          run.weights(static_cast<std::size_t>(rank % degree)));
  }
}

void check_as_ddp(const Settings& settings, int ranks, int degree, const Settings& more = {},
                  const Settings& of_grid = {}) {
  INFO(settings[0] << ", " << degree << " of " << ranks << ", " << (more.empty() ? "" : more[0]));
  TrainingRun parts(grid(settings, ranks, degree, with(more, of_grid)));
  TrainingRun plain(ddp(settings, ranks / degree, more));
  REQUIRE_FALSE(parts.program().timing_only);
  CHECK(cut_weights(parts, degree) == plain.weights());
  const std::vector<float> start = plain.weights();
  parts.finish();
  plain.finish();
  CHECK(test::largest_difference(plain.weights(), start) > 1e-2);
  CHECK(largest_difference_of_losses(parts, plain) < 1e-4);
  CHECK(test::largest_difference(cut_weights(parts, degree), plain.weights()) < 1e-3);
  check_groups_equal(parts, ranks, degree);
}

}  // namespace

TEST_CASE("tensor groups train as ranks of DistributedDataParallel with the same batches") {
  for (const Settings& model : {kMlp, kGpt}) {
    check_as_ddp(model, 4, 2);
    check_as_ddp(model, 8, 4);
    check_as_ddp(model, 8, 2);
  }
  check_as_ddp(kMlp, 6, 2);
}

TEST_CASE("they do so in every way of summing and adding up gradients") {
  for (const Settings& how :
       {Settings{"accumulate_steps=2"}, Settings{"accumulate_steps=2", "ddp.no_sync=true"},
        Settings{"ddp.bucket_cap_mb=0.01"}, Settings{"ddp.gradient_as_bucket_view=true"},
        Settings{"zero_grad.when=never"}, Settings{"zero_grad.set_to_none=false"},
        Settings{"loader.shuffle=true"}, Settings{"data.source=tensor"},
        Settings{"sampler.distributed=false"}, Settings{"checkpoint.enabled=true"},
        Settings{"optimizer.name=adamw", "optimizer.impl=fused"}}) {
    check_as_ddp(kGpt, 4, 2, how);
    if (how[0] != "checkpoint.enabled=true") check_as_ddp(kMlp, 4, 2, how);
  }
}

TEST_CASE("with parts of the sequence they do, too") {
  for (const Settings& how :
       {Settings{}, Settings{"accumulate_steps=2"},
        Settings{"ddp.no_sync=true", "accumulate_steps=2"}, Settings{"zero_grad.when=never"},
        Settings{"zero_grad.set_to_none=false"}, Settings{"checkpoint.enabled=true"},
        Settings{"ddp.bucket_cap_mb=0.01"}, Settings{"optimizer.name=adamw"}})
    check_as_ddp(kGpt, 4, 2, how, {"tensor.sequence_parallel=true"});
  // Of one sample a rank's draws are those of one GPU.
  check_as_ddp(kGpt, 8, 4, {"model.dropout=0.1", "batch_size=1"},
               {"tensor.sequence_parallel=true"});
}

TEST_CASE("groups of one rank are DistributedDataParallel, bit for bit") {
  for (const Settings& model : {kMlp, kGpt}) {
    TrainingRun parts(grid(model, 4, 1)), plain(ddp(model, 4));
    CHECK(parts.finish().losses() == plain.finish().losses());
    CHECK(parts.weights(2) == plain.weights(2));
  }
}
