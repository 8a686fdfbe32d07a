// What the lessons about fitting a training into memory, and about testing one, claim.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "scenario/lesson.h"
#include "support/lesson_runs.h"

using namespace trainscope;
using analysis::Run;
using scenario::Lesson;
using test::on_every_machine;
using test::Pair;
using test::reached;
using test::run_on;
using test::run_side;
using test::step_of;
using test::value;

namespace {

constexpr const char* kMachine = "h200-1";

std::vector<double> losses(const Run& run) {
  std::vector<double> losses;
  for (std::uint32_t i = 0; i < run.trace->steps().size(); ++i)
    losses.push_back(run.trace->steps()[i].loss);
  return losses;
}

double ratio(const Pair& pair, const char* metric) {
  return value(pair.b, metric) / value(pair.a, metric);
}

}  // namespace

TEST_CASE("memorization: a sound network learns one batch by heart, one cut in two does not") {
  const Lesson lesson = scenario::find_lesson("memorization-test");
  for (const char* seed : {"seed=0", "seed=1", "seed=2"}) {
    INFO(seed);
    const Pair pair = run_on(lesson, kMachine, {seed});
    CHECK(value(pair.a, "loss.final") < 1e-3);
    CHECK(value(pair.b, "loss.final") > 0.4);
    // It looks like learning all the same.
    CHECK(value(pair.b, "loss.final") < 0.6 * value(pair.b, "loss.first"));
    CHECK(value(pair.b, "launch.calls") < value(pair.a, "launch.calls"));
  }
}

TEST_CASE("memorization: an early cut slips through the test") {
  const Lesson lesson = scenario::find_lesson("memorization-test");
  const Run early = run_side(lesson, "B", kMachine, {"model.detach=1"});
  CHECK(value(early, "loss.final") < 0.1);
  CHECK(value(early, "loss.final") > 10 * value(run_side(lesson, "A", kMachine), "loss.final"));
}

TEST_CASE("accumulation: the losses are those of the large batch, for less memory and more time") {
  on_every_machine("gradient-accumulation", [](const Run& a, const Run& b) {
    const std::vector<double> large = losses(a), portions = losses(b);
    REQUIRE(large.size() == portions.size());
    REQUIRE(large.size() == 3);
    for (std::size_t step = 0; step < large.size(); ++step)
      CHECK(portions[step] == Approx(large[step]).margin(1e-4));
    CHECK(large.back() < large.front());
    const Pair pair{a, b};
    CHECK(ratio(pair, "memory.activations") < 0.3);
    CHECK(ratio(pair, "memory.peak_allocated") < 0.65);
    CHECK(ratio(pair, "launch.calls") > 4);
    CHECK(ratio(pair, "time.step") > 2);
  });
}

TEST_CASE("accumulation: memory stops falling where only the activations do") {
  const Lesson lesson = scenario::find_lesson("gradient-accumulation");
  const scenario::Step& vary = step_of(lesson, "vary");
  const Run a = run_side(lesson, "A", kMachine);
  const auto portions = [&](const char* batch, const char* of) {
    return run_side(lesson, "B", kMachine, {batch, of});
  };
  const Run four = portions("batch_size=4", "accumulate_steps=8");
  const Run two = portions("batch_size=2", "accumulate_steps=16");
  const Run one = portions("batch_size=1", "accumulate_steps=32");
  CHECK_FALSE(reached(vary, a, four));
  CHECK(reached(vary, a, two));
  CHECK(reached(vary, a, one));
  // Weights, gradients and Adam's two moments, four bytes each, and cuBLAS's two workspaces.
  const double rest = 16 * value(a, "model.parameters") + 2 * (8 << 20);
  CHECK(value(one, "memory.peak_allocated") > rest);
  CHECK(value(one, "memory.peak_allocated") > 0.9 * value(two, "memory.peak_allocated"));
}

TEST_CASE("checkpointing: less memory, and as much more time as there is more arithmetic") {
  on_every_machine("checkpointing", [](const Run& a, const Run& b) {
    const Pair pair{a, b};
    CHECK(ratio(pair, "memory.peak_allocated") < 0.6);
    CHECK(ratio(pair, "time.step") > 1.1);
    CHECK(ratio(pair, "flops.step") < 1.34);
    // Not the launches, of which the host has enough ahead.
    CHECK(ratio(pair, "time.step") == Approx(ratio(pair, "flops.step")).epsilon(0.05));
    CHECK(value(a, "gpu.idle") < 0.05 * value(a, "time.step"));
  });
}

TEST_CASE("checkpointing: the larger the batch, the more it saves") {
  const Lesson lesson = scenario::find_lesson("checkpointing");
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Pair eight = run_on(lesson, machine);
    const Pair more = run_on(lesson, machine, {"batch_size=16"});
    CHECK(ratio(more, "memory.peak_allocated") < 0.9 * ratio(eight, "memory.peak_allocated"));
    CHECK(ratio(more, "time.step") == Approx(ratio(eight, "time.step")).epsilon(0.05));
    CHECK_FALSE(reached(step_of(lesson, "vary"), eight.a, eight.b));
    CHECK(reached(step_of(lesson, "vary"), more.a, more.b));
  }
}

TEST_CASE(
    "time to a loss: a large batch trains more samples a second and is later, with any seed") {
  const Lesson lesson = scenario::find_lesson("time-to-a-loss");
  REQUIRE(lesson.seeds.size() >= 4);
  for (const std::int64_t number : lesson.seeds) {
    const std::string seed = "seed=" + std::to_string(number);
    INFO(seed);
    const Pair pair = run_on(lesson, kMachine, {seed});
    CHECK(ratio(pair, "throughput.samples") > 2.5);
    CHECK(ratio(pair, "time.to_loss") > 1.25);
    CHECK(value(pair.b, "steps.to_loss") < value(pair.a, "steps.to_loss"));
    CHECK_FALSE(reached(step_of(lesson, "rate"), pair.a, pair.b));
    // By the linear scaling rule, and at half of it; on a slow GPU, too.
    for (const char* machine : {kMachine, "laptop-1"})
      for (const char* rate : {"optimizer.lr=0.4", "optimizer.lr=0.2"}) {
        INFO(machine << " " << rate);
        CHECK(reached(step_of(lesson, "rate"), run_side(lesson, "A", machine, {seed}),
                      run_side(lesson, "B", machine, {seed, rate})));
      }
  }
}

TEST_CASE("time to a loss: the scaling rule ends, and past it samples save hardly a step") {
  const Lesson lesson = scenario::find_lesson("time-to-a-loss");
  const Run b = run_side(lesson, "B", kMachine, {"optimizer.lr=0.4"});
  const Run scaled =
      run_side(lesson, "B", kMachine, {"optimizer.lr=1.6", "batch_size=1024", "steps=40"});
  CHECK_FALSE(analysis::value_of(scaled.metrics, "time.to_loss"));
  const Run larger =
      run_side(lesson, "B", kMachine, {"optimizer.lr=0.4", "batch_size=1024", "steps=60"});
  CHECK(value(larger, "steps.to_loss") > 0.5 * value(b, "steps.to_loss"));
  CHECK(value(larger, "time.to_loss") > 1.5 * value(b, "time.to_loss"));
  CHECK(reached(step_of(lesson, "larger"), run_side(lesson, "A", kMachine), larger));
}
