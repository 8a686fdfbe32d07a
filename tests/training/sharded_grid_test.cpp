// FSDP between tensor groups really trains: its ranks learn what those of DistributedDataParallel
// between the same groups do.
#include <catch2/catch.hpp>

#include "training/cut_weights.h"
#include "training/sharded_weights.h"

using namespace trainscope;
using test::kRounding;
using test::largest_difference;
using test::Settings;
using test::TrainingRun;
using test::whole_weights;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp",   "data.name=digits", "model.hidden=30",
                    "model.layers=4",   "batch_size=8",     "steps=6",
                    "optimizer.lr=0.1", "machine=h200-8",   "loop.evaluate=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text",     "model.width=36", "model.heads=4",
                    "model.seq_len=32",    "model.blocks=2",     "steps=6",        "batch_size=2",
                    "machine=h200-8",      "loop.evaluate=false"};

struct Mesh {
  int ranks, degree;
  int groups() const { return ranks / degree; }
};

Settings between(const char* strategy, const Settings& settings, Mesh mesh,
                 const Settings& more = {}) {
  return with(with(settings, {std::string("parallel.strategy=") + strategy,
                              "parallel.world_size=" + std::to_string(mesh.ranks),
                              "tensor.degree=" + std::to_string(mesh.degree)}),
              more);
}

// What a rank of a tensor group has of the layers, from the ranks that share it.
std::vector<float> weights_of(TrainingRun& sharded, Mesh mesh, int place) {
  return whole_weights(sharded, mesh.groups(), place, mesh.degree);
}

// `most`: by how much numbers differ; 0: not by a bit.
void check_as_ddp(const Settings& model, Mesh mesh, double most, const Settings& more = {}) {
  INFO(model[0] << ", " << mesh.degree << " of " << mesh.ranks << ", "
                << (more.empty() ? "" : more[0]));
  TrainingRun ddp(between("tensor", model, mesh, more));
  TrainingRun fsdp(between("fsdp", model, mesh, more));
  REQUIRE_FALSE(fsdp.program().timing_only);
  REQUIRE(fsdp.program().computed_ranks == mesh.ranks);
  for (int place = 0; place < mesh.degree; ++place)
    CHECK(weights_of(fsdp, mesh, place) == ddp.weights(static_cast<std::size_t>(place)));
  const std::vector<float> start = ddp.weights();
  ddp.finish();
  fsdp.finish();
  CHECK(largest_difference(ddp.weights(), start) > 1e3 * kRounding);
  for (int place = 0; place < mesh.degree; ++place) {
    INFO("place " << place);
    const std::vector<float> learned = weights_of(fsdp, mesh, place);
    const std::vector<float> expected = ddp.weights(static_cast<std::size_t>(place));
    if (most == 0)
      CHECK(learned == expected);
    else
      CHECK(largest_difference(learned, expected) < most);
  }
  if (most == 0)
    CHECK(fsdp.losses() == ddp.losses());
  else
    CHECK(test::largest_difference_of_losses(fsdp, ddp) < most);
}

}  // namespace

TEST_CASE("two tensor groups that share parameters train as two that sum gradients, bit for bit") {
  for (const Settings& model : {kMlp, kGpt})
    for (const char* optimizer : {"optimizer.name=sgd", "optimizer.name=adamw"})
      check_as_ddp(model, {4, 2}, 0, {optimizer, "optimizer.lr=0.01"});
  check_as_ddp(kGpt, {8, 4}, 0);
  check_as_ddp(kMlp, {6, 3}, 0, {"model.hidden=30"});
}

TEST_CASE("more groups add in another order, and differ by roundings") {
  check_as_ddp(kMlp, {8, 2}, kRounding);
  check_as_ddp(kMlp, {6, 2}, kRounding);
  check_as_ddp(kGpt, {8, 2}, 1e-4);
}

TEST_CASE("they do so whatever is gathered, kept and added up when") {
  for (const Settings& how :
       {Settings{"checkpoint.enabled=true"}, Settings{"loader.shuffle=true"},
        Settings{"data.source=tensor"}, Settings{"model.dropout=0.1"},
        Settings{"tensor.loss_parallel=true"}, Settings{"zero_grad.set_to_none=false"},
        Settings{"accumulate_steps=2"},
        Settings{"optimizer.name=adamw", "optimizer.impl=fused", "optimizer.lr=0.01"}}) {
    const bool of_one = how[0].starts_with("accumulate_steps");
    check_as_ddp(kGpt, {4, 2}, of_one ? kRounding : 0, how);
  }
  for (const char* own : {"fsdp.wrap=model", "fsdp.reshard_after_forward=false"}) {
    INFO(own);
    TrainingRun plain(between("fsdp", kGpt, {4, 2})), other(between("fsdp", kGpt, {4, 2}, {own}));
    plain.finish();
    other.finish();
    CHECK(other.losses() == plain.losses());
    CHECK(weights_of(other, {4, 2}, 1) == weights_of(plain, {4, 2}, 1));
  }
}

TEST_CASE("with parts of the sequence a norm's gradients are summed over its group first") {
  const Settings parts{"tensor.sequence_parallel=true"};
  check_as_ddp(kGpt, {4, 2}, 0, parts);
  check_as_ddp(kGpt, {8, 4}, 0, with(parts, {"tensor.loss_parallel=true"}));
  check_as_ddp(kGpt, {4, 2}, 0, with(parts, {"checkpoint.enabled=true"}));
  check_as_ddp(kGpt, {4, 2}, kRounding, with(parts, {"accumulate_steps=2"}));
}

TEST_CASE(
    "gradients that stay whole until the last micro-batch are those that are scattered each") {
  for (const Settings& parts : {Settings{}, Settings{"tensor.sequence_parallel=true"}}) {
    const Settings more = with(parts, {"accumulate_steps=3"});
    TrainingRun each(between("fsdp", kGpt, {4, 2}, more));
    TrainingRun last(between("fsdp", kGpt, {4, 2}, with(more, {"fsdp.gradient_sync=last"})));
    each.finish();
    last.finish();
    for (const int place : {0, 1})
      CHECK(largest_difference(weights_of(each, {4, 2}, place), weights_of(last, {4, 2}, place)) <
            kRounding);
  }
}

TEST_CASE("gradients are clipped by the norm over both dimensions of the mesh") {
  for (const Settings& model : {kMlp, kGpt}) {
    // Tensor parallelism clips nowhere else: as many samples, read alike, on ranks that are whole.
    const Settings clipped = with(model, {"clip_grad_norm=0.05", "optimizer.lr=0.5"});
    TrainingRun fsdp(between("fsdp", clipped, {4, 2}));
    TrainingRun ddp(with(clipped, {"parallel.strategy=ddp", "parallel.world_size=2"}));
    fsdp.finish();
    ddp.finish();
    for (std::uint32_t step = 0; step < ddp.trace().steps().size(); ++step) {
      INFO(model[0] << ", step " << step);
      CHECK(ddp.trace().steps()[step].gradient_norm > 0.05);
      CHECK(fsdp.trace().steps()[step].gradient_norm ==
            Approx(ddp.trace().steps()[step].gradient_norm).epsilon(1e-3));
    }
    CHECK(test::largest_difference_of_losses(fsdp, ddp) < 1e-3);
  }
}

TEST_CASE("with parameters in BF16 all ranks of a group learn as DDP's do, nearly") {
  const Settings adam{"optimizer.name=adamw", "optimizer.lr=0.01", "steps=20"};
  TrainingRun fsdp(between("fsdp", kMlp, {4, 2},
                           with(adam, {"fsdp.param_dtype=bf16", "fsdp.reduce_dtype=fp32"})));
  TrainingRun ddp(between("tensor", kMlp, {4, 2}, adam));
  fsdp.finish();
  ddp.finish();
  CHECK(ddp.losses().back() < 0.9 * ddp.losses().front());
  CHECK(fsdp.losses().back() < 0.9 * fsdp.losses().front());
  CHECK(fsdp.losses().back() == Approx(ddp.losses().back()).epsilon(0.1));
}

TEST_CASE("groups of one rank are FSDP, bit for bit") {
  for (const Settings& model : {kMlp, kGpt}) {
    TrainingRun one(between("fsdp", model, {4, 1})), none(between("fsdp", model, {4, 0}));
    CHECK(one.finish().losses() == none.finish().losses());
    CHECK(whole_weights(one, 4) == whole_weights(none, 4));
  }
}
