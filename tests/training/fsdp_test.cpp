// Ranks of FSDP that really train: whatever is gathered and scattered when, they are the ranks of
// DistributedDataParallel.
#include <catch2/catch.hpp>
#include <cmath>

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
                    "model.layers=2",   "batch_size=8",       "steps=6",
                    "optimizer.lr=0.1", "loop.evaluate=false"};
const Settings kCnn{"model.name=cnn",      "data.name=digits",       "batch_size=8",     "steps=4",
                    "loop.evaluate=false", "cudnn.allow_tf32=false", "optimizer.lr=0.05"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",   "model.seq_len=32",
                    "batch_size=4",        "steps=4",        "model.dropout=0.1"};

Settings on_ranks(const Settings& settings, const char* strategy, int ranks,
                  const Settings& more = {}) {
  return with(with(settings, {std::string("parallel.strategy=") + strategy, "machine=h200-8",
                              "parallel.world_size=" + std::to_string(ranks)}),
              more);
}

}  // namespace

TEST_CASE("parts begin as the whole model does, whatever they are divided among") {
  for (const Settings& model : {kMlp, kGpt})
    for (const int ranks : {1, 2, 3, 8}) {
      TrainingRun whole(model), parts(on_ranks(model, "fsdp", ranks));
      CHECK(whole_weights(parts, ranks) == whole.weights());
    }
}

TEST_CASE("two ranks of FSDP train as two of DistributedDataParallel, bit for bit") {
  for (const Settings& model : {kMlp, kGpt})
    for (const char* optimizer : {"optimizer.name=sgd", "optimizer.name=adamw"}) {
      INFO(model[0] << ", " << optimizer);
      const Settings settings = with(model, {optimizer, "optimizer.lr=0.01"});
      TrainingRun ddp(on_ranks(settings, "ddp", 2)), fsdp(on_ranks(settings, "fsdp", 2));
      REQUIRE_FALSE(fsdp.program().timing_only);
      const std::vector<float> start = ddp.weights();
      ddp.finish();
      fsdp.finish();
      CHECK(ddp.weights() != start);
      CHECK(whole_weights(fsdp, 2) == ddp.weights());
      CHECK(fsdp.losses() == ddp.losses());
    }
}

TEST_CASE("more ranks add in another order, and differ by roundings") {
  for (const Settings& model : {kMlp, kCnn})
    for (const int ranks : {3, 4, 8}) {
      TrainingRun ddp(on_ranks(model, "ddp", ranks)), fsdp(on_ranks(model, "fsdp", ranks));
      ddp.finish();
      fsdp.finish();
      CHECK(largest_difference(whole_weights(fsdp, ranks), trained_weights(ddp)) < kRounding);
    }
}

TEST_CASE("what FSDP gathers when changes no number") {
  const Settings settings = on_ranks(kGpt, "fsdp", 2);
  TrainingRun plain(settings);
  plain.finish();
  const std::vector<float> weights = whole_weights(plain, 2);
  for (const char* more : {"fsdp.wrap=model", "fsdp.reshard_after_forward=false",
                           "checkpoint.enabled=true", "zero_grad.when=before_forward"}) {
    INFO(more);
    TrainingRun other(with(settings, {more}));
    other.finish();
    CHECK(whole_weights(other, 2) == weights);
    CHECK(other.losses() == plain.losses());
  }
}

TEST_CASE("FSDP adds up gradients of several batches, and those that nobody drops") {
  for (const Settings& more : {Settings{"accumulate_steps=3"}, Settings{"zero_grad.when=never"},
                               Settings{"zero_grad.set_to_none=false"},
                               Settings{"zero_grad.set_to_none=false", "accumulate_steps=2"}}) {
    INFO(more[0]);
    TrainingRun ddp(on_ranks(kMlp, "ddp", 2, more)), fsdp(on_ranks(kMlp, "fsdp", 2, more));
    ddp.finish();
    fsdp.finish();
    CHECK(largest_difference(whole_weights(fsdp, 2), ddp.weights()) < kRounding);
  }
}

TEST_CASE("gradients that FSDP scatters once are the sums of those that it scatters each time") {
  for (const Settings& model : {kMlp, kGpt})
    for (const char* zero : {"zero_grad.when=before_forward", "zero_grad.when=never"}) {
      INFO(model[0] << ", " << zero);
      const Settings settings = with(model, {"accumulate_steps=3", "optimizer.lr=0.01", zero});
      TrainingRun each(on_ranks(settings, "fsdp", 2));
      TrainingRun last(on_ranks(settings, "fsdp", 2, {"fsdp.gradient_sync=last"}));
      each.finish();
      last.finish();
      CHECK(largest_difference(whole_weights(last, 2), whole_weights(each, 2)) < kRounding);
      CHECK(last.metric("comm.bytes") < 0.9 * each.metric("comm.bytes"));
      CHECK(last.metric("memory.peak_allocated") > each.metric("memory.peak_allocated"));
    }
}

TEST_CASE("FSDP clips by the norm of the gradients of all ranks, and counts that one") {
  for (const Settings& model : {kMlp, kGpt})
    for (const int ranks : {2, 3, 8}) {
      INFO(model[0] << " on " << ranks);
      const Settings clipped = with(model, {"clip_grad_norm=0.05", "optimizer.lr=1"});
      TrainingRun ddp(on_ranks(clipped, "ddp", ranks)), fsdp(on_ranks(clipped, "fsdp", ranks));
      TrainingRun unclipped(on_ranks(with(model, {"optimizer.lr=1"}), "fsdp", ranks));
      for (TrainingRun* run : {&ddp, &fsdp, &unclipped}) run->finish();
      CHECK(largest_difference(whole_weights(fsdp, ranks), ddp.weights()) < kRounding);
      CHECK(largest_difference(whole_weights(fsdp, ranks), whole_weights(unclipped, ranks)) >
            1e3 * kRounding);
      const auto& wanted = ddp.trace().steps();
      const auto& found = fsdp.trace().steps();
      REQUIRE(found.size() == wanted.size());
      for (std::uint32_t step = 0; step < found.size(); ++step)
        CHECK(found[step].gradient_norm == Approx(wanted[step].gradient_norm).epsilon(1e-5));
    }
}

TEST_CASE("parts in BF16 are clipped by norms that are rounded, nearly as FP32 ones are") {
  const Settings clipped =
      with(kMlp, {"clip_grad_norm=0.05", "model.dtype=bf16", "steps=3", "optimizer.lr=0.01"});
  TrainingRun ddp(on_ranks(clipped, "ddp", 2)), fsdp(on_ranks(clipped, "fsdp", 2));
  ddp.finish();
  fsdp.finish();
  for (std::uint32_t step = 0; step < 3; ++step)
    CHECK(fsdp.trace().steps()[step].gradient_norm ==
          Approx(ddp.trace().steps()[step].gradient_norm).epsilon(0x1p-6));
}

TEST_CASE("where one rank's part overflows, all ranks skip the step") {
  for (const char* how : {"optimizer.impl=foreach", "optimizer.impl=fused", "clip_grad_norm=0.5"}) {
    INFO(how);
    const Settings scaled = with(kMlp, {"precision=fp16", "scaler.enabled=true", "steps=20", how,
                                        "scaler.init_scale=1e9", "scaler.growth_interval=4"});
    TrainingRun ddp(on_ranks(scaled, "ddp", 4)), fsdp(on_ranks(scaled, "fsdp", 4));
    ddp.finish();
    fsdp.finish();
    CHECK(fsdp.skipped_steps() == ddp.skipped_steps());
    CHECK(fsdp.skipped_steps().size() > 3);
    CHECK(fsdp.skipped_steps().size() < 20);
    CHECK(largest_difference(whole_weights(fsdp, 4), ddp.weights()) < 1e-3);
    const program::Index scale = fsdp.program().gauges.scale;
    for (const std::size_t rank : {1, 2, 3})
      CHECK(fsdp.numbers(rank).value(scale) == fsdp.numbers(0).value(scale));
    CHECK(fsdp.losses().back() == Approx(ddp.losses().back()).epsilon(1e-3));
  }
}

TEST_CASE("infinities that are injected make FSDP skip the steps that DDP skips") {
  for (const char* how : {"optimizer.impl=foreach", "optimizer.impl=fused"}) {
    INFO(how);
    const Settings scaled = with(kMlp, {"scaler.enabled=true", "scaler.init_scale=1024", "steps=6",
                                        "scaler.inject_inf_at=1,4", how});
    TrainingRun ddp(on_ranks(scaled, "ddp", 4)), fsdp(on_ranks(scaled, "fsdp", 4));
    ddp.finish();
    fsdp.finish();
    CHECK(fsdp.skipped_steps() == std::vector<std::int64_t>{1, 4});
    CHECK(largest_difference(whole_weights(fsdp, 4), ddp.weights()) < 1e-4);
    const program::Index scale = fsdp.program().gauges.scale;
    for (const std::size_t rank : {0, 1, 2, 3}) CHECK(fsdp.numbers(rank).value(scale) == 256);
  }
}

TEST_CASE("a part of the model that backward never reaches stays as it is") {
  const Settings settings = with(kMlp, {"model.detach=1"});
  TrainingRun ddp(on_ranks(settings, "ddp", 2, {"ddp.find_unused_parameters=true"}));
  TrainingRun fsdp(on_ranks(settings, "fsdp", 2));
  ddp.finish();
  fsdp.finish();
  CHECK(whole_weights(fsdp, 2) == ddp.weights());
}

TEST_CASE("with param_dtype the model computes in BF16, and the parts stay FP32") {
  const Settings bf16 = on_ranks(kMlp, "fsdp", 2, {"fsdp.param_dtype=bf16", "steps=40"});
  TrainingRun wide(on_ranks(kMlp, "fsdp", 2, {"steps=40"})), narrow(bf16);
  wide.finish();
  narrow.finish();
  CHECK(whole_weights(narrow, 2) != whole_weights(wide, 2));
  CHECK(narrow.losses().back() == Approx(wide.losses().back()).epsilon(0.05));
  TrainingRun exact(with(bf16, {"fsdp.reduce_dtype=fp32"}));
  exact.finish();
  CHECK(whole_weights(exact, 2) != whole_weights(narrow, 2));
  // Updates below half a unit of BF16 are kept by FP32 parts, and lost by a model in BF16.
  TrainingRun all_narrow(on_ranks(kMlp, "fsdp", 2, {"model.dtype=bf16", "steps=40"}));
  all_narrow.finish();
  CHECK(narrow.metric("update.lost") < 0.1 * all_narrow.metric("update.lost"));
}

TEST_CASE("after FSDP's training the model is evaluated with the weights of all ranks") {
  const Settings settings = with(kMlp, {"loop.evaluate=true", "steps=60", "batch_size=16"});
  TrainingRun ddp(on_ranks(settings, "ddp", 2)), fsdp(on_ranks(settings, "fsdp", 2));
  ddp.finish();
  fsdp.finish();
  CHECK(fsdp.metric("accuracy.final") == ddp.metric("accuracy.final"));
  CHECK(fsdp.metric("accuracy.final") > 0.5);
}
