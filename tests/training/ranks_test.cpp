// Ranks of DistributedDataParallel and replicas of DataParallel that really train.
#include <catch2/catch.hpp>
#include <cmath>

#include "training/training_run.h"

using namespace trainscope;
using test::kRounding;
using test::largest_difference;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

const Settings kMlp{"model.name=mlp", "data.name=digits", "model.hidden=32",    "model.layers=2",
                    "batch_size=16",  "steps=6",          "loop.evaluate=false"};
const Settings kCnn{"model.name=cnn", "data.name=digits",    "batch_size=8",
                    "steps=5",        "loop.evaluate=false", "cudnn.allow_tf32=false"};
const Settings kGpt{"model.name=gpt-mini", "data.name=text", "model.width=32",
                    "model.seq_len=32",    "batch_size=4",   "steps=4"};

Settings on_ranks(const Settings& settings, int ranks, const Settings& more = {}) {
  return with(with(settings, {"parallel.strategy=ddp", "machine=h200-8",
                              "parallel.world_size=" + std::to_string(ranks)}),
              more);
}

Settings on_gpus(const Settings& settings, int gpus, const Settings& more = {}) {
  return with(with(settings, {"parallel.strategy=dp", "machine=h200-8",
                              "parallel.world_size=" + std::to_string(gpus)}),
              more);
}

std::string batch_size(int size) {
  return "batch_size=" + std::to_string(size);
}

double last_loss(TrainingRun& run, std::size_t rank) {
  return run.numbers(rank).value(run.program().gauges.loss);
}

std::vector<float> moments(TrainingRun& run, std::size_t rank) {
  std::vector<float> all;
  for (const program::Index parameter : run.parameters()) {
    if (run.program().buffers[parameter].name.find(".running_") == std::string::npos) continue;
    const host::Results values = run.numbers(rank).values(parameter);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace

TEST_CASE("so many ranks train as one GPU with so many times the batch") {
  for (const Settings& model : {kMlp, kGpt}) {
    const Settings settings = with(model, {"optimizer.lr=0.1", "steps=4"});
    for (const int ranks : {1, 2, 3, 4, 8}) {
      INFO(model[0] << " on " << ranks << " ranks");
      TrainingRun one(with(settings, {batch_size(4 * ranks)}));
      const std::vector<float> start = one.weights();
      one.finish();
      REQUIRE(largest_difference(start, one.weights()) > 1e-3);
      TrainingRun many(on_ranks(settings, ranks, {batch_size(4)}));
      REQUIRE_FALSE(many.program().timing_only);
      many.finish();
      CHECK(largest_difference(many.weights(), one.weights()) < kRounding);
      double mean = 0;
      for (int rank = 0; rank < ranks; ++rank)
        mean += last_loss(many, static_cast<std::size_t>(rank)) / ranks;
      CHECK(mean == Approx(one.losses().back()).epsilon(1e-6));
      CHECK(many.losses().back() == last_loss(many, 0));
    }
  }
}

TEST_CASE("gradients that nobody zeroes add up on ranks and on replicas as on one GPU") {
  for (const Settings& model : {kMlp, kGpt}) {
    const Settings never = with(model, {"zero_grad.when=never", "optimizer.lr=0.05", "steps=4"});
    TrainingRun one(with(never, {batch_size(16)}));
    one.finish();
    TrainingRun zeroed(with(never, {batch_size(16), "zero_grad.when=before_backward"}));
    CHECK(largest_difference(one.weights(), zeroed.finish().weights()) > 1e-3);
    TrainingRun ranks(on_ranks(never, 4, {batch_size(4)}));
    CHECK(largest_difference(one.weights(), ranks.finish().weights()) < kRounding);
    TrainingRun replicas(on_gpus(never, 4, {batch_size(16)}));
    CHECK(largest_difference(one.weights(), replicas.finish().weights()) < kRounding);
  }
}

TEST_CASE("after a hundred steps two ranks have the same weights, bit for bit") {
  TrainingRun run(on_ranks(kMlp, 2, {"steps=100", "loader.shuffle=true", "optimizer.lr=0.1"}));
  run.finish();
  CHECK(run.weights(0) == run.weights(1));
  CHECK(last_loss(run, 0) != last_loss(run, 1));  // each has a batch of its own
  CHECK(run.losses().back() < 0.5 * run.losses().front());
}

TEST_CASE("ranks without a sampler train on the same batches, exactly as one GPU alone") {
  const Settings dropout = with(kGpt, {"model.dropout=0.2"});
  for (const Settings& model : {kMlp, kCnn, dropout}) {
    const Settings settings = with(model, {"loader.shuffle=true"});
    TrainingRun one(settings), two(on_ranks(settings, 2, {"sampler.distributed=false"}));
    one.finish();
    two.finish();
    CHECK(two.weights(0) == one.weights());
    CHECK(two.weights(1) == one.weights());
    CHECK(two.losses() == one.losses());
    CHECK(two.metric("data.distinct") == 0.5);
    CHECK(one.metric("data.distinct") == 1);
  }
}

TEST_CASE("how gradients lie in buckets never changes numbers of two ranks") {
  const Settings settings = on_ranks(kMlp, 2, {"steps=5"});
  TrainingRun plain(settings);
  const std::vector<float> weights = plain.finish().weights();
  for (const char* more : {"ddp.gradient_as_bucket_view=true", "ddp.bucket_cap_mb=0.001",
                           "ddp.find_unused_parameters=true", "ddp.static_graph=true",
                           "zero_grad.set_to_none=false", "data.source=tensor"}) {
    INFO(more);
    TrainingRun other(with(settings, {more}));
    CHECK(other.finish().weights() == weights);
    CHECK(other.weights(1) == weights);
  }
}

TEST_CASE("gradients summed in a narrow type train all ranks alike, and nearly as FP32 does") {
  for (const char* hook : {"ddp.comm_hook=bf16_compress", "ddp.comm_hook=fp16_compress"})
    for (const int ranks : {2, 3, 8}) {
      INFO(hook << " on " << ranks);
      const Settings settings = on_ranks(kMlp, ranks, {"steps=30", batch_size(4)});
      TrainingRun plain(settings), narrow(with(settings, {hook}));
      const std::vector<float> start = plain.weights();
      plain.finish();
      narrow.finish();
      CHECK(narrow.weights() != plain.weights());
      for (int rank = 1; rank < ranks; ++rank)
        CHECK(narrow.weights(static_cast<std::size_t>(rank)) == narrow.weights(0));
      CHECK(largest_difference(narrow.weights(), plain.weights()) <
            0.05 * largest_difference(start, plain.weights()));
      TrainingRun views(with(settings, {hook, "ddp.gradient_as_bucket_view=true"}));
      CHECK(views.finish().weights() == narrow.weights());
    }
}

TEST_CASE("a gradient beyond FP16's range is summed as infinity by the hook, and BF16 has room") {
  // The loss scale makes them large.
  const Settings scaled = on_ranks(
      kMlp, 2, {"steps=4", "autocast.dtype=bf16", "scaler.enabled=true", "scaler.init_scale=1e7"});
  const auto skipped = [&](const char* hook) {
    TrainingRun run(with(scaled, {std::string("ddp.comm_hook=") + hook}));
    return run.finish().skipped_steps().size();
  };
  CHECK(skipped("none") == 0);
  CHECK(skipped("bf16_compress") == 0);
  CHECK(skipped("fp16_compress") > 0);
}

TEST_CASE("a ring of three adds in an order of its own, which buckets change by a rounding") {
  const Settings settings = on_ranks(kMlp, 3, {"steps=5"});
  TrainingRun one(settings), other(with(settings, {"ddp.bucket_cap_mb=0.001"}));
  one.finish();
  other.finish();
  CHECK(one.weights() != other.weights());
  CHECK(largest_difference(one.weights(), other.weights()) < kRounding);
  for (const std::size_t rank : {1, 2}) CHECK(other.weights(rank) == other.weights(0));
}

TEST_CASE("accumulating, ranks that sum once train as those that sum each time") {
  for (const Settings& model : {kMlp, kGpt}) {
    const Settings settings = on_ranks(model, 2, {"accumulate_steps=4", "optimizer.lr=0.1"});
    TrainingRun each(settings), once(with(settings, {"ddp.no_sync=true"}));
    each.finish();
    once.finish();
    CHECK(largest_difference(each.weights(), once.weights()) < kRounding);
    CHECK(once.weights(1) == once.weights(0));
    TrainingRun views(with(settings, {"ddp.gradient_as_bucket_view=true"}));
    CHECK(views.finish().weights() == each.weights());
  }
}

TEST_CASE("a parameter that no rank uses stays as it is, and the others train") {
  const Settings settings = with(kMlp, {"model.detach=1", "optimizer.lr=0.1"});
  TrainingRun one(with(settings, {batch_size(32)}));
  const std::vector<float> start = one.weights();
  one.finish();
  TrainingRun two(on_ranks(settings, 2, {"ddp.find_unused_parameters=true"}));
  two.finish();
  CHECK(largest_difference(one.weights(), two.weights()) < kRounding);
  CHECK(two.weights(1) == two.weights(0));
  CHECK(two.weights() != start);
  CHECK(two.weights().front() == start.front());
}

TEST_CASE(
    "each rank normalises its own batch, and the running moments are rank 0's again and again") {
  TrainingRun told(on_ranks(kCnn, 2, {"steps=20"}));
  TrainingRun apart(on_ranks(kCnn, 2, {"steps=20", "ddp.broadcast_buffers=false"}));
  told.finish();
  apart.finish();
  CHECK(moments(told, 0) == moments(apart, 0));
  // Between two broadcasts they move apart by one batch, else by twenty.
  const double one_batch = largest_difference(moments(told, 0), moments(told, 1));
  CHECK(one_batch > 0);
  CHECK(largest_difference(moments(apart, 0), moments(apart, 1)) > one_batch);
}

TEST_CASE("an infinity in one rank's gradients makes all ranks skip the step") {
  for (const char* impl : {"optimizer.impl=foreach", "optimizer.impl=fused"}) {
    const Settings settings = on_ranks(
        kMlp, 2, {"precision=fp16", "scaler.enabled=true", "scaler.init_scale=1e30", impl});
    TrainingRun run(with(settings, {"steps=120"}));
    run.finish();
    CHECK(run.skipped_steps().size() > 10);
    CHECK(run.skipped_steps().size() < 120);
    CHECK(run.weights(1) == run.weights(0));
    CHECK(run.numbers(1).value(run.program().gauges.scale) ==
          run.numbers(0).value(run.program().gauges.scale));
  }
}

TEST_CASE("the numbers of ranks do not depend on threads, and end at eight") {
  const Settings settings = on_ranks(kMlp, 4);
  TrainingRun one(settings, 1), four(settings, 4);
  CHECK(one.finish().weights() == four.finish().weights());
  CHECK(TrainingRun(on_ranks(kMlp, 16, {"machine=h200-8x2"})).program().timing_only);
}

TEST_CASE("replicas of DataParallel train as one GPU with the same batch") {
  for (const Settings& model : {kMlp, kGpt}) {
    const Settings settings = with(model, {"optimizer.lr=0.1", "steps=4"});
    for (const int batch : {16, 10})
      for (const int gpus : {2, 4, 8}) {
        INFO(model[0] << " with " << batch << " samples on " << gpus << " GPUs");
        TrainingRun one(with(settings, {batch_size(batch)}));
        TrainingRun many(on_gpus(settings, gpus, {batch_size(batch)}));
        one.finish();
        REQUIRE_FALSE(many.program().timing_only);
        many.finish();
        CHECK(largest_difference(many.weights(), one.weights()) < kRounding);
        for (std::size_t i = 0; i < 4; ++i)
          CHECK(many.losses()[i] == Approx(one.losses()[i]).epsilon(1e-6));
      }
  }
}

TEST_CASE("DataParallel gives the same with its loss inside, prefetching, or gradients that stay") {
  const Settings settings = on_gpus(kMlp, 4, {"optimizer.lr=0.1"});
  TrainingRun one(with(kMlp, {"optimizer.lr=0.1"})), plain(settings);
  one.finish();
  plain.finish();
  for (const Settings& more : {Settings{"dp.loss_in_forward=true"},
                               Settings{"transfer.prefetch=true", "transfer.streams=2",
                                        "loader.pin_memory=true", "transfer.non_blocking=true"},
                               Settings{"zero_grad.set_to_none=false"},
                               Settings{"precision=fp32", "scaler.enabled=true"}}) {
    INFO(more[0]);
    TrainingRun other(with(settings, more));
    other.finish();
    CHECK(largest_difference(other.weights(), plain.weights()) < kRounding);
    CHECK(other.losses().back() == Approx(one.losses().back()).epsilon(1e-6));
  }
  const Settings parts{"accumulate_steps=4", "batch_size=4"};
  TrainingRun accumulated(with(settings, parts));
  CHECK(largest_difference(accumulated.finish().weights(), one.weights()) < kRounding);
}

TEST_CASE("the running moments of DataParallel are those of GPU 0's part") {
  TrainingRun two(on_gpus(kCnn, 2, {"steps=1"})), part(with(kCnn, {"batch_size=4", "steps=1"}));
  two.finish();
  part.finish();
  CHECK(moments(two, 0) == moments(part, 0));
  CHECK(largest_difference(two.weights(), part.weights()) > 0);
}

TEST_CASE("without set_epoch an epoch's batches come again, with it and shuffled never") {
  const Settings settings =
      on_ranks(kMlp, 2, {"loader.shuffle=true", "batch_size=1250", "optimizer.lr=0"});
  const std::int64_t epoch = 4;  // 10,000 samples of 2 ranks in batches of 1,250
  const Settings two_epochs = with(settings, {"steps=" + std::to_string(2 * epoch)});
  TrainingRun told(two_epochs), not_told(with(two_epochs, {"sampler.set_epoch=false"}));
  const std::vector<double> fresh = told.finish().losses(), again = not_told.finish().losses();
  // Weights stay, so losses tell batches apart.
  for (std::size_t i = 0; i < static_cast<std::size_t>(epoch); ++i) {
    CHECK(again[i] == again[i + static_cast<std::size_t>(epoch)]);
    CHECK(fresh[i] != fresh[i + static_cast<std::size_t>(epoch)]);
    CHECK(fresh[i] == again[i]);
  }
  CHECK(told.metric("data.repeated") == 0);
  CHECK(not_told.metric("data.repeated") == 1);
}
