// What the lessons about mixed precision claim, as properties of their runs.

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "scenario/lesson.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using analysis::Run;
using scenario::Lesson;
using test::on_every_machine;
using test::Pair;
using test::run_on;
using test::run_side;
using test::value;

namespace {

// The numbers of these lessons are computed, and no machine changes them.
constexpr const char* kMachine = "h200-1";

// A network that learns ends below this share of its first loss; one that does not stays above
// the other.
constexpr double kLearned = 0.8, kStuck = 0.97;

// Some of those that students' runs take.
std::vector<std::string> seeds_of(const Lesson& lesson) {
  REQUIRE(lesson.seeds.size() >= 10);
  std::vector<std::string> seeds;
  for (const std::size_t i : {0, 1, 5}) seeds.push_back("seed=" + std::to_string(lesson.seeds[i]));
  return seeds;
}

double share_left(const Run& run) {
  return value(run, "loss.final") / value(run, "loss.first");
}

}  // namespace

TEST_CASE("autocast: casts make a small model's step longer, though its products are shorter") {
  on_every_machine("autocast-what-runs-where", [](const Run& a, const Run& b) {
    CHECK(value(b, "launch.calls") > 1.5 * value(a, "launch.calls"));
    CHECK(value(b, "time.step") > 1.3 * value(a, "time.step"));
    CHECK(value(b, "gpu.util") < 0.5);
  });
}

TEST_CASE("autocast: a wide model gains, and its memory does not halve") {
  const Lesson lesson = scenario::find_lesson("autocast-what-runs-where");
  for (const std::string& machine : machine::machine_ids()) {
    INFO(machine);
    const Pair pair = run_on(lesson, machine, {"model.hidden=4096", "batch_size=4096"});
    CHECK(value(pair.a, "time.step") > 1.5 * value(pair.b, "time.step"));
    CHECK(value(pair.b, "memory.peak_allocated") > 0.6 * value(pair.a, "memory.peak_allocated"));
  }
}

TEST_CASE("underflow: without a scaler a deep network stands still, with one it learns") {
  const Lesson lesson = scenario::find_lesson("amp-underflow");
  for (const std::string& seed : seeds_of(lesson)) {
    INFO(seed);
    const Pair pair = run_on(lesson, kMachine, {seed});
    CHECK(share_left(pair.a) > kStuck);
    CHECK(share_left(pair.b) < kLearned);
    CHECK(value(pair.a, "grad.underflow") > 100 * value(pair.b, "grad.underflow"));
    CHECK(value(pair.a, "grad.overflow") == 0);
    // A ReLU that is off gives zeros too, so B has some.
    CHECK(value(pair.a, "grad.zeros") > 0.85);
    CHECK(value(pair.b, "grad.zeros") < 0.7);
    // Few numbers are lost in rounding; far more are computed from what was lost.
    CHECK(value(pair.a, "grad.zeros") > 4 * value(pair.a, "grad.underflow"));
  }
}

TEST_CASE("underflow: FP32 learns too, a scale of 16 suffices, and a scale of 1 changes nothing") {
  const Lesson lesson = scenario::find_lesson("amp-underflow");
  const Run fp32 = run_side(lesson, "A", kMachine, {"precision=fp32"});
  CHECK(share_left(fp32) < kLearned);
  CHECK(share_left(run_side(lesson, "B", kMachine, {"scaler.init_scale=16"})) < kLearned);
  const Run unscaled = run_side(lesson, "A", kMachine);
  const Run by_one = run_side(lesson, "B", kMachine, {"scaler.init_scale=1"});
  CHECK(value(by_one, "loss.final") == value(unscaled, "loss.final"));
}

TEST_CASE("loss scale: too high costs a step a halving, too low costs the training") {
  const Lesson lesson = scenario::find_lesson("amp-loss-scale");
  const Pair pair = run_on(lesson, kMachine);
  CHECK(share_left(pair.a) > kStuck);
  CHECK(value(pair.a, "scaler.scale") == 1);
  CHECK(value(pair.a, "scaler.skipped_steps") == 0);
  CHECK(share_left(pair.b) < kLearned);
  // Each skipped step halved the scale, and no interval ended.
  double scale = pair.b.config.number("scaler.init_scale");
  for (double left = value(pair.b, "scaler.skipped_steps"); left > 0; --left) scale /= 2;
  CHECK(value(pair.b, "scaler.scale") == scale);
  CHECK(value(pair.b, "scaler.skipped_steps") >= 14);
}

TEST_CASE("loss scale: a short interval lets a low scale climb, broken batches bring any down") {
  const Lesson lesson = scenario::find_lesson("amp-loss-scale");
  const Run climbs = run_side(lesson, "A", kMachine, {"scaler.growth_interval=8"});
  CHECK(share_left(climbs) < kLearned);
  CHECK(value(climbs, "scaler.scale") > 1000);
  const Run broken =
      run_side(lesson, "B", kMachine, {"scaler.inject_inf_at=100,101,102,103,104,105,106"});
  CHECK(value(broken, "scaler.scale") < 1000);
}

TEST_CASE("BF16: it learns without a scaler where FP16 does not, from coarser numbers") {
  const Lesson lesson = scenario::find_lesson("bf16-vs-fp16");
  for (const std::string& seed : seeds_of(lesson)) {
    INFO(seed);
    const Pair pair = run_on(lesson, kMachine, {seed});
    CHECK(share_left(pair.a) > kStuck);
    CHECK(share_left(pair.b) < kLearned);
    CHECK(value(pair.b, "grad.underflow") < 1e-3);
  }
  // How far the first loss is from FP32's, over several models: BF16 keeps three bits less.
  const auto error = [&](const char* precision) {
    double sum = 0;
    for (const char* seed : {"seed=0", "seed=1", "seed=2", "seed=3", "seed=4"}) {
      const auto first_loss = [&](const char* word) {
        return value(run_side(lesson, "A", kMachine, {"model.layers=4", "steps=1", seed, word}),
                     "loss.first");
      };
      sum += std::abs(first_loss(precision) - first_loss("precision=fp32"));
    }
    return sum;
  };
  CHECK(error("precision=fp16") > 0);
  CHECK(error("precision=bf16") > 3 * error("precision=fp16"));
}

TEST_CASE(
    "master copy: BF16 weights lose most updates, FP32 weights none, and a larger rate helps") {
  const Lesson lesson = scenario::find_lesson("master-copy");
  for (const char* seed : {"seed=0", "seed=1", "seed=2"}) {
    INFO(seed);
    const Pair pair = run_on(lesson, kMachine, {seed});
    CHECK(value(pair.b, "loss.final") < 0.9 * value(pair.a, "loss.final"));
    CHECK(value(pair.a, "update.lost") > 0.8);
    CHECK(value(pair.b, "update.lost") < 0.01);
    CHECK(value(pair.a, "grad.underflow") < 1e-3);
    CHECK(value(pair.a, "memory.parameters") < 0.6 * value(pair.b, "memory.parameters"));
  }
  const Pair fast = run_on(lesson, kMachine, {"optimizer.lr=0.03"});
  CHECK(value(fast.a, "loss.final") < 1.1 * value(fast.b, "loss.final"));
  CHECK(value(fast.a, "update.lost") <
        0.95 * value(run_side(lesson, "A", kMachine, {}), "update.lost"));
  // Adam's updates are as large as its rate, whatever the gradient.
  const Run adam = run_side(lesson, "A", kMachine, {"optimizer.name=adam"});
  CHECK(value(adam, "update.lost") < 0.5);
}

TEST_CASE("NaN: a smaller batch leaves it, BF16 takes the overflow, and a lower rate the cause") {
  const Lesson lesson = scenario::find_lesson("loss-is-nan");
  const auto reached = [&](const char* step, const Pair& pair, const Run& a) {
    return test::reached(test::step_of(lesson, step), a, pair.b);
  };
  for (const std::string& seed : seeds_of(lesson)) {
    INFO(seed);
    const Pair pair = run_on(lesson, kMachine, {seed});
    for (const Run* run : {&pair.a, &pair.b}) {
      CHECK(std::isfinite(value(*run, "loss.first")));
      CHECK(!std::isfinite(value(*run, "loss.final")));
      CHECK(value(*run, "scaler.skipped_steps") == 39);
      CHECK(value(*run, "scaler.scale") == std::ldexp(65536.0, -39));
    }
    const Run bf16 = run_side(lesson, "A", kMachine, {seed, "precision=bf16"});
    CHECK(std::isfinite(value(bf16, "loss.final")));
    CHECK(share_left(bf16) > kStuck);
    CHECK(reached("vary-type", pair, bf16));
    const Run low = run_side(lesson, "A", kMachine, {seed, "scaler.init_scale=1"});
    CHECK(!reached("goal", pair, low));
    const Run slow = run_side(lesson, "A", kMachine, {seed, "optimizer.lr=0.003"});
    CHECK(share_left(slow) < kLearned);
    CHECK(reached("goal", pair, slow));
  }
}
