// The last batch of an epoch, where it is shorter: loader.drop_last = false.
#include <catch2/catch.hpp>

#include "training/training_run.h"

using namespace trainscope;
using test::Settings;
using test::TrainingRun;
using test::with;

namespace {

// 10,000 samples: three batches of 3,000, and one of 1,000. The model stays as it was.
const Settings kFour{"model.name=mlp",      "data.name=digits",       "model.hidden=16",
                     "model.layers=2",      "optimizer.lr=0",         "batch_size=3000",
                     "loop.evaluate=false", "loader.drop_last=false", "steps=8"};

std::vector<double> losses_of(const Settings& settings) {
  return TrainingRun(settings).finish().losses();
}

}  // namespace

TEST_CASE("a shorter batch is made of the samples that are left") {
  const std::vector<double> four = losses_of(kFour);
  const std::vector<double> ten = losses_of(with(kFour, {"batch_size=1000", "steps=10"}));
  REQUIRE(four.size() == 8);
  CHECK(four[3] == Approx(ten[9]));
  CHECK(four[0] == Approx((ten[0] + ten[1] + ten[2]) / 3));
  for (std::size_t step = 0; step < 4; ++step) CHECK(four[step + 4] == four[step]);
  CHECK(four[3] != four[0]);
  // Left out, the fourth batch is the first of the next epoch.
  const std::vector<double> dropped = losses_of(with(kFour, {"loader.drop_last=true", "steps=4"}));
  CHECK(dropped[3] == dropped[0]);
}

TEST_CASE("however batches come, the shorter one is trained on like the others") {
  const std::vector<double> plain = losses_of(with(kFour, {"optimizer.lr=0.1"}));
  for (const Settings& way :
       {Settings{"loader.num_workers=2", "loader.pin_memory=true"},
        {"transfer.prefetch=true"},
        {"transfer.prefetch=true", "transfer.streams=2", "transfer.record_stream=true",
         "loader.pin_memory=true", "transfer.non_blocking=true"},
        {"data.source=tensor"},
        {"data.location=device"},
        {"device=cpu"},
        {"loop.evaluate=true"}}) {
    CAPTURE(way.front());
    CHECK(losses_of(with(with(kFour, {"optimizer.lr=0.1"}), way)) == plain);
  }
}

TEST_CASE("ranks have their shorter batches in the same step, and sum them") {
  // 2,500 samples a rank: two batches of 1,000, and one of 500.
  TrainingRun run(with(kFour, {"batch_size=1000", "parallel.strategy=ddp", "machine=h200-8",
                               "parallel.world_size=4", "steps=6", "optimizer.lr=0.1"}));
  run.finish();
  CHECK(run.losses().size() == 6);
  for (std::size_t rank = 1; rank < 4; ++rank) CHECK(run.weights(rank) == run.weights(0));
}

TEST_CASE("a mean step counts the samples that it trained on") {
  TrainingRun run(with(kFour, {"steps=5"}));  // the first is the warm-up
  CHECK(run.program().samples_per_step == Approx((3000 + 3000 + 1000 + 3000) / 4.0));
  run.finish();
  const double step = run.metric("time.step");
  CHECK(run.metric("throughput.samples") == Approx(2500 * 1e9 / step));
  TrainingRun whole(with(kFour, {"steps=5", "loader.drop_last=true"}));
  const double model_share = run.program().step_flops / whole.program().step_flops;
  CHECK(model_share > 2500.0 / 3000 - 0.01);
  CHECK(model_share < 0.9);
}

TEST_CASE("what is not built for a shorter batch says so only where one is reached") {
  for (const char* knob : {"compile.cuda_graph=true", "compile.fuse=true"}) {
    CHECK_NOTHROW(TrainingRun(with(kFour, {knob, "steps=3"})));
    CHECK_THROWS_WITH(TrainingRun(with(kFour, {knob})),
                      Catch::Contains("batch 4 of each epoch has 1000 samples") &&
                          Catch::Contains("set loader.drop_last = true"));
  }
}
