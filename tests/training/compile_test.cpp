// torch.compile changes how the numbers are computed, and none of them.
#include <catch2/catch.hpp>

#include "training/training_run.h"

using namespace trainscope;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp", "data.name=digits", "model.hidden=32",    "model.layers=2",
                    "batch_size=32",  "steps=6",          "loop.evaluate=false"};
const Settings kCnn{
    "model.name=cnn", "model.batch_norm=true", "data.name=digits",   "batch_size=16",
    "steps=5",        "loop.evaluate=false",   "optimizer.name=adam"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text",      "model.width=32",
                    "model.seq_len=32",    "batch_size=8",        "steps=5",
                    "model.dropout=0.2",   "optimizer.name=adamw"};

const Settings kFused{"compile.fuse=true"};
const Settings kGraph{"compile.cuda_graph=true"};
const Settings kBoth{"compile.fuse=true", "compile.cuda_graph=true"};

// Everything that a run computed, to the bit, on every rank.
std::string numbers_of(const Settings& settings) {
  TrainingRun run(settings);
  run.finish();
  test::Hash hash;
  for (int rank = 0; rank < run.program().computed_ranks; ++rank)
    hash.add(run.weights(static_cast<std::size_t>(rank)));
  for (std::uint32_t i = 0; i < run.trace().steps().size(); ++i)
    hash.add(std::vector<float>{static_cast<float>(run.trace().steps()[i].loss),
                                static_cast<float>(run.trace().steps()[i].loss_scale)});
  for (std::uint32_t i = 0; i < run.trace().evaluations().size(); ++i)
    hash.add(std::vector<float>{static_cast<float>(run.trace().evaluations()[i].correct)});
  return hash.text() + ", steps: " + std::to_string(run.trace().steps().size());
}

void check_equal(const Settings& settings, const std::vector<Settings>& ways) {
  const std::string eager = numbers_of(settings);
  for (const Settings& way : ways) {
    INFO(settings[0] << ", " << way[0] << " and " << way.size() - 1 << " more");
    CHECK(numbers_of(with(settings, way)) == eager);
  }
}

}  // namespace

TEST_CASE("a compiled model learns what the model learns, to the bit") {
  for (const Settings& model : {kMlp, kCnn, kGpt}) check_equal(model, {kFused, kGraph, kBoth});
}

TEST_CASE("a compiled model computes the same in mixed precision, scaled losses included") {
  const Settings half{"precision=fp16", "scaler.enabled=true", "scaler.inject_inf_at=2"};
  for (const Settings& model : {kMlp, kCnn, kGpt}) {
    check_equal(with(model, half), {kFused, kGraph, kBoth});
    check_equal(with(with(model, half), {"optimizer.impl=fused", "optimizer.name=adam"}), {kBoth});
    check_equal(with(model, {"precision=bf16"}), {kFused, kBoth});
  }
}

TEST_CASE("a compiled model computes the same whatever feeds it, and whatever is recomputed") {
  for (const Settings& more :
       {Settings{"transfer.prefetch=true", "transfer.streams=2", "loader.pin_memory=true",
                 "transfer.non_blocking=true"},
        Settings{"data.location=device"}, Settings{"checkpoint.enabled=true"},
        Settings{"loader.num_workers=2", "host.profile=native"}})
    for (const Settings& model : {kCnn, kGpt}) check_equal(with(model, more), {kFused, kBoth});
}

TEST_CASE("gradients are added up behind a compiled backward as behind any other") {
  for (const Settings& more :
       {Settings{"accumulate_steps=3"}, Settings{"zero_grad.set_to_none=false"}})
    for (const Settings& model : {kCnn, kGpt}) check_equal(with(model, more), {kFused});
}

TEST_CASE("a model that was compiled to learn answers the test set as the eager one does") {
  const Settings tested{"model.name=cnn", "model.batch_norm=true", "data.name=digits", "steps=4"};
  check_equal(tested, {kFused, kBoth});
}

namespace {

// Two: of more, the order in which a sum is added up follows from its place in a bucket.
Settings on_ranks(const Settings& settings, const char* strategy, const Settings& more = {}) {
  const Settings ranks{std::string("parallel.strategy=") + strategy, "machine=h200-8",
                       "parallel.world_size=2"};
  return with(with(settings, ranks), more);
}

// So wide that it is cut into several pieces.
const Settings kWideMlp{"model.name=mlp",     "data.name=digits", "model.hidden=600",
                        "model.layers=3",     "batch_size=4",     "steps=4",
                        "loop.evaluate=false"};
const Settings kInOne{"compile.fuse=true", "compile.optimize_ddp=false"};

}  // namespace

TEST_CASE("ranks of DistributedDataParallel learn the same compiled, cut at buckets or in one") {
  const Settings small{"ddp.bucket_cap_mb=1"};
  check_equal(on_ranks(kWideMlp, "ddp", small), {kFused, kInOne, kGraph, kBoth});
  check_equal(on_ranks(kWideMlp, "ddp", {"ddp.gradient_as_bucket_view=true"}), {kFused});
  for (const Settings& model : {kCnn, kGpt}) {
    check_equal(on_ranks(model, "ddp"), {kFused, kInOne});
    check_equal(on_ranks(model, "ddp", {"precision=fp16", "scaler.enabled=true"}), {kFused});
    check_equal(on_ranks(model, "ddp", {"accumulate_steps=2", "ddp.no_sync=true"}), {kFused});
  }
}

TEST_CASE("ranks of FSDP learn the same whether their blocks are compiled or not") {
  for (const Settings& more :
       {Settings{"fsdp.wrap=block"}, Settings{"fsdp.wrap=model"}, Settings{"precision=bf16"},
        Settings{"accumulate_steps=2", "fsdp.gradient_sync=last"}})
    for (const Settings& model : {kCnn, kGpt}) check_equal(on_ranks(model, "fsdp", more), {kFused});
  check_equal(on_ranks(kGpt, "fsdp", {"checkpoint.enabled=true"}), {kFused});
}
