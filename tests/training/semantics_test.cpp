// What the knobs of training mean, as properties of the numbers and of the run around them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "training/training_run.h"

using namespace trainscope;
using test::largest_difference;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp", "data.name=digits", "model.hidden=32",    "model.layers=2",
                    "batch_size=32",  "steps=6",          "loop.evaluate=false"};
const Settings kSpirals{"model.name=mlp",     "data.name=spirals", "model.inputs=2",
                        "model.hidden=16",    "batch_size=32",     "steps=6",
                        "loop.evaluate=false"};
const Settings kCnn{"model.name=cnn", "data.name=digits",    "batch_size=16",
                    "steps=5",        "loop.evaluate=false", "cudnn.allow_tf32=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",
                    "model.seq_len=32",    "batch_size=8",   "steps=5"};
const Settings kDropout = with(kGpt, {"model.dropout=0.2"});

// Everything that a run computed, to the bit.
std::string numbers_of(TrainingRun& run) {
  test::Hash hash;
  hash.add(run.weights());
  for (std::uint32_t i = 0; i < run.trace().steps().size(); ++i)
    hash.add(std::vector<float>{static_cast<float>(run.trace().steps()[i].loss)});
  return hash.text();
}

std::string numbers_of(const Settings& settings, int threads = 1) {
  TrainingRun run(settings, threads);
  return numbers_of(run.finish());
}

int kernels(const TrainingRun& run, const std::string& operation) {
  int count = 0;
  for (std::uint32_t i = 0; i < run.trace().spans().size(); ++i)
    count += trace::is_kernel(run.trace().spans()[i].category) &&
                     run.trace().name(run.trace().spans()[i]).starts_with(operation)
                 ? 1
                 : 0;
  return count;
}

program::Index buffer(const TrainingRun& run, const std::string& name) {
  for (program::Index i = 0; i < run.program().buffers.size(); ++i)
    if (run.program().buffers[i].name == name) return i;
  FAIL("no buffer is called " << name);
  return 0;
}

}  // namespace

TEST_CASE("gradients of small batches add up to those of one large batch") {
  for (const Settings& model : {kMlp, kGpt}) {
    const Settings settings = with(model, {"optimizer.lr=0.1", "steps=4"});
    TrainingRun large(with(settings, {"batch_size=16"}));
    const std::vector<float> start = large.weights(), whole = large.finish().weights();
    REQUIRE(largest_difference(start, whole) > 1e-3);
    for (const int parts : {1, 2, 4, 8}) {
      INFO(model[0] << " in " << parts << " parts");
      TrainingRun small(with(settings, {"batch_size=" + std::to_string(16 / parts),
                                        "accumulate_steps=" + std::to_string(parts)}));
      // Four steps, each rounding weights of up to about 1 by 2^-24 and sums by little more.
      CHECK(largest_difference(small.finish().weights(), whole) < 4 * 0x1p-22);
      for (std::size_t i = 0; i < 4; ++i)
        CHECK(small.losses()[i] == Approx(large.losses()[i]).epsilon(1e-6));
    }
  }
}

TEST_CASE("checkpointing recomputes the same numbers in less memory and more time") {
  for (const Settings& model :
       {kMlp, with(kGpt, {"model.blocks=4"}), with(kDropout, {"model.blocks=4"})}) {
    INFO(model[0]);
    const Settings large = with(model, {"steps=3", "batch_size=64"});
    TrainingRun kept(large), recomputed(with(large, {"checkpoint.enabled=true"}));
    CHECK(numbers_of(kept.finish()) == numbers_of(recomputed.finish()));
    CHECK(kernels(recomputed, "gemm") > kernels(kept, "gemm"));
    CHECK(recomputed.metric("time.step") > kept.metric("time.step"));
    if (model[0] == kMlp[0]) continue;  // too small for its activations to matter
    CHECK(recomputed.metric("memory.peak_allocated") < kept.metric("memory.peak_allocated"));
  }
}

TEST_CASE("which blocks are recomputed changes no number") {
  const Settings deep = with(kDropout, {"model.blocks=4", "steps=3"});
  TrainingRun kept(deep);
  kept.finish();
  for (const char* every : {"checkpoint.every=1", "checkpoint.every=2", "checkpoint.every=3"}) {
    INFO(every);
    TrainingRun recomputed(with(deep, {"checkpoint.enabled=true", every}));
    CHECK(numbers_of(recomputed.finish()) == numbers_of(kept));
  }
}

TEST_CASE("recomputing stops at the last result that backward reads, as PyTorch's does") {
  TrainingRun kept(kGpt), recomputed(with(kGpt, {"checkpoint.enabled=true"}));
  // Five steps of two blocks: qkv, projection and up again, but not down, whose result is only
  // added to.
  CHECK(kernels(recomputed.finish(), "gemm") - kernels(kept.finish(), "gemm") == 5 * 2 * 3);
  CHECK(numbers_of(recomputed) == numbers_of(kept));
}

// tests/golden/trajectories.py has the same from PyTorch: "cnn, checkpointed".
TEST_CASE("recomputing a batch norm moves its running moments twice, and nothing else") {
  TrainingRun kept(kCnn), recomputed(with(kCnn, {"checkpoint.enabled=true"}));
  kept.finish();
  recomputed.finish();
  CHECK(kept.losses() == recomputed.losses());
  for (const program::Index parameter : kept.parameters()) {
    const std::string& name = kept.program().buffers[parameter].name;
    INFO(name);
    const host::Results a = kept.numbers().values(parameter);
    const host::Results b = recomputed.numbers().values(parameter);
    const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end());
    CHECK(same == (name.find(".running_") == std::string::npos));
  }
}

TEST_CASE("how and when gradients are zeroed changes memory and kernels, never numbers") {
  for (const Settings& model : {kMlp, with(kMlp, {"accumulate_steps=2"}), kCnn, kGpt}) {
    INFO(model[0]);
    TrainingRun none(model), zeros(with(model, {"zero_grad.set_to_none=false"}));
    TrainingRun before(with(model, {"zero_grad.when=before_forward"}));
    const std::string numbers = numbers_of(none.finish());
    CHECK(numbers == numbers_of(zeros.finish()));
    CHECK(numbers == numbers_of(before.finish()));
    CHECK(kernels(none, "foreach_zero") == 0);
    CHECK(kernels(zeros, "foreach_zero") > 0);
    CHECK(kernels(zeros, "accumulate") > kernels(none, "accumulate"));
  }
  // Gradients that stay are there beside all activations.
  const Settings large = with(kGpt, {"batch_size=64"});
  TrainingRun zeros(with(large, {"zero_grad.set_to_none=false"}));
  TrainingRun before(with(large, {"zero_grad.when=before_forward"}));
  CHECK(zeros.finish().metric("memory.peak_allocated") >
        before.finish().metric("memory.peak_allocated"));
}

TEST_CASE("without zero_grad the gradients of all steps add up") {
  const Settings still{"data.one_batch=true", "optimizer.lr=0", "clip_grad_norm=1e9"};
  for (const Settings& model : {with(kMlp, still), with(kGpt, still)}) {
    TrainingRun zeroed(model), kept(with(model, {"zero_grad.when=never"}));
    zeroed.finish();
    kept.finish();
    const double first = zeroed.trace().steps()[0].gradient_norm;
    for (std::uint32_t i = 0; i < kept.trace().steps().size(); ++i) {
      CHECK(zeroed.trace().steps()[i].gradient_norm == Approx(first));
      CHECK(kept.trace().steps()[i].gradient_norm == Approx((i + 1) * first).epsilon(1e-5));
    }
    CHECK(kernels(kept, "foreach_zero") == 0);
    CHECK(kernels(kept, "accumulate") > kernels(zeroed, "accumulate"));
  }
}

TEST_CASE("foreach=False launches each operator for each parameter, and changes no number") {
  const Settings sgd{"optimizer.momentum=0.9", "optimizer.weight_decay=0.01"};
  const Settings adam{"optimizer.name=adamw", "optimizer.weight_decay=0.01"};
  for (const auto& [optimizer, operators] : {std::pair{sgd, 4}, {adam, 8}})
    for (const Settings& model : {with(kMlp, optimizer), with(kGpt, optimizer)}) {
      TrainingRun list(model), loop(with(model, {"optimizer.impl=for_loop"}));
      CHECK(numbers_of(list.finish()) == numbers_of(loop.finish()));
      CHECK(kernels(loop, "foreach_") == 0);
      const int more = kernels(loop, "") - kernels(list, "") + kernels(list, "foreach_");
      const auto steps = static_cast<int>(loop.trace().steps().size());
      CHECK(more == steps * operators * static_cast<int>(loop.parameters().size()));
    }
}

TEST_CASE("clipping bounds the gradients' norm, and the scaler does not change it") {
  const Settings clipped = with(kMlp, {"clip_grad_norm=0.25", "optimizer.lr=1"});
  TrainingRun plain(clipped);
  std::vector<float> before = plain.weights();
  plain.finish();
  for (std::uint32_t i = 0; i < plain.trace().steps().size(); ++i)
    CHECK(plain.trace().steps()[i].gradient_norm > 0.25);
  // SGD with a rate of 1 moves by the gradient itself.
  TrainingRun one(with(clipped, {"steps=1"}));
  const std::vector<float> after = one.finish().weights();
  double squares = 0;
  for (std::size_t i = 0; i < after.size(); ++i) squares += std::pow(after[i] - before[i], 2);
  CHECK(std::sqrt(squares) == Approx(0.25).epsilon(1e-4));
  for (const char* impl : {"optimizer.impl=foreach", "optimizer.impl=fused"})
    CHECK(numbers_of(with(clipped, {"scaler.enabled=true", impl})) == numbers_of(plain));
}

TEST_CASE("a scale that is a power of two changes no number in FP32") {
  for (const char* name : {"sgd", "adam", "adamw"}) {
    const Settings settings = with(kSpirals, {std::string("optimizer.name=") + name});
    const std::string plain = numbers_of(settings);
    for (const char* impl : {"optimizer.impl=foreach", "optimizer.impl=fused"}) {
      CHECK(numbers_of(with(settings, {impl})) == plain);
      CHECK(numbers_of(with(settings, {impl, "scaler.enabled=true"})) == plain);
    }
  }
}

TEST_CASE("the same seed gives the same bytes on any number of threads, another seed others") {
  for (const Settings& model : {kMlp, kCnn, kDropout, with(kCnn, {"precision=bf16"})}) {
    INFO(model[0]);
    const std::string numbers = numbers_of(model);
    for (const int threads : {2, 4}) CHECK(numbers_of(model, threads) == numbers);
    CHECK(numbers_of(with(model, {"seed=1"})) != numbers);
  }
}

TEST_CASE("a model begins the same whatever the program around it has") {
  const std::vector<float> start = TrainingRun(kMlp).weights();
  for (const char* setting :
       {"transfer.prefetch=true", "loader.num_workers=2", "optimizer.name=adam",
        "scaler.enabled=true", "checkpoint.enabled=true", "precision=fp16"})
    CHECK(TrainingRun(with(kMlp, {setting})).weights() == start);
}

TEST_CASE("how batches are loaded and copied never changes numbers") {
  const std::string numbers = numbers_of(kMlp);
  for (const Settings& more :
       {Settings{"loader.num_workers=3", "loader.pin_memory=true", "transfer.non_blocking=true"},
        Settings{"transfer.prefetch=true", "transfer.streams=2", "loader.pin_memory=true",
                 "transfer.non_blocking=true"},
        Settings{"data.source=tensor"}, Settings{"loop.item_every=1"}, Settings{"machine=t4-1"}})
    CHECK(numbers_of(with(kMlp, more)) == numbers);
  CHECK(numbers_of(with(kMlp, {"loader.shuffle=true"})) != numbers);
}

TEST_CASE("dropout drops its share of the elements and changes the loss") {
  TrainingRun run(kDropout), none(kGpt);
  CHECK(run.finish().losses() != none.finish().losses());
  const host::Results values = run.numbers().values(buffer(run, "dropout 1"));
  const auto zeros = static_cast<double>(std::count(values.begin(), values.end(), 0.0F));
  const auto count = static_cast<double>(values.size());
  // Five standard deviations of a binomial share.
  CHECK(std::abs(zeros / count - 0.2) < 5 * std::sqrt(0.2 * 0.8 / count));
}

TEST_CASE("a loss that is no number is kept in the trace, and the run ends there") {
  TrainingRun run(with(kMlp, {"optimizer.lr=1e6", "steps=30", "loop.evaluate=true"}));
  const std::vector<double> losses = run.finish().losses();
  REQUIRE(losses.size() < 30);
  for (std::size_t i = 0; i + 1 < losses.size(); ++i) CHECK(std::isfinite(losses[i]));
  CHECK_FALSE(std::isfinite(losses.back()));
  CHECK(run.trace().evaluations().size() == 0);
}

TEST_CASE("evaluating leaves what was trained as it is") {
  TrainingRun run(with(kCnn, {"loop.evaluate=true"})), without(kCnn);
  CHECK(run.finish().weights() == without.finish().weights());
  REQUIRE(run.trace().evaluations().size() == 1);
  CHECK(run.trace().evaluations()[0].step == 5);
  CHECK(run.trace().evaluations()[0].samples == 2000);
  CHECK(without.trace().evaluations().size() == 0);
}

TEST_CASE("a validation, and what it keeps, changes no number of the training") {
  const Settings kNorms = with(kCnn, {"model.batch_norm=true"});
  for (const Settings& model : {kMlp, kNorms, kDropout, with(kSpirals, {"accumulate_steps=2"})}) {
    INFO(model[0] << " " << model.back());
    const std::string plain = numbers_of(model);
    for (const Settings& more :
         {Settings{}, Settings{"validation.no_grad=false"},
          Settings{"validation.no_grad=false", "validation.keep=output", "loop.keep_losses=tensor"},
          Settings{"validation.keep=loss", "loop.keep_losses=item"}})
      CHECK(numbers_of(with(with(model, {"validation.batches=3", "validation.every=2"}), more)) ==
            plain);
  }
}
