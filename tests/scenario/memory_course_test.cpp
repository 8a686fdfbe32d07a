// What the lessons about memory, batches and devices claim, as properties of their runs.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "scenario/lesson.h"
#include "scenario/solution.h"
#include "sim/ending.h"
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

std::string batch(int samples) {
  return "batch_size=" + std::to_string(samples);
}

// When the spans of a name begin, in their order in the trace.
std::vector<Nanos> begins_of(const Run& run, const char* name) {
  std::vector<Nanos> begins;
  for (trace::SpanId span = 0; span < run.trace->spans().size(); ++span)
    if (run.trace->name(run.trace->spans()[span]) == name)
      begins.push_back(run.trace->spans()[span].start);
  return begins;
}

}  // namespace

TEST_CASE("memory: plain SGD needs weights and gradients, AdamW five times the weights") {
  on_every_machine("memory-anatomy", [](const Run& a, const Run& b) {
    const double weights = value(a, "memory.parameters");
    CHECK(value(b, "memory.parameters") == weights);
    CHECK(weights == Approx(4 * value(a, "model.parameters")).epsilon(0.001));
    CHECK(value(a, "memory.optimizer") == 0);
    CHECK(value(b, "memory.optimizer") == Approx(2 * weights).epsilon(0.001));
    // Of the update, as large as the weights, and of cuBLAS, of both threads.
    const double cublas = value(a, "memory.workspace");
    CHECK(value(b, "memory.workspace") == Approx(weights + cublas).epsilon(0.001));
    // The update comes after backward, which used the activations up.
    CHECK(value(b, "memory.activations") < 0.02 * weights);
    CHECK(value(a, "memory.activations") > 0.05 * weights);
  });
}

TEST_CASE("memory: activations grow with the batch, and fill most of it in the end") {
  const Lesson lesson = scenario::find_lesson("memory-anatomy");
  const scenario::Step& vary = step_of(lesson, "vary");
  const Pair first = run_on(lesson, "t4-1");
  CHECK(!reached(vary, first.a, first.b));
  const Run large = run_side(lesson, "A", "t4-1", {batch(16384)});
  CHECK(reached(vary, large, first.b));
  CHECK(value(large, "memory.parameters") == value(first.a, "memory.parameters"));
  const Run twice = run_side(lesson, "A", "t4-1", {batch(32768)});
  CHECK(value(twice, "memory.activations") ==
        Approx(2 * value(large, "memory.activations")).epsilon(0.01));
}

TEST_CASE("allocator: more is reserved than tensors ever held, fetched in the first step") {
  on_every_machine("allocated-vs-reserved", [](const Run& a, const Run& b) {
    for (const Run* run : {&a, &b})
      CHECK(value(*run, "memory.peak_reserved") > 1.1 * value(*run, "memory.peak_allocated"));
    CHECK(value(b, "memory.peak_reserved") > 2.5 * value(a, "memory.peak_reserved"));
    CHECK(value(b, "time.first_timer") > value(b, "time.host_timer"));
    const std::vector<Nanos> fetched = begins_of(b, "cudaMalloc");
    const Nanos second = begins_of(b, "ProfilerStep#1").front();
    const auto later = std::ranges::count_if(fetched, [&](Nanos at) { return at >= second; });
    CHECK(fetched.size() > 10);
    CHECK(later <= 2);
  });
}

TEST_CASE("allocator: what is left between tensors grows with them") {
  const Lesson lesson = scenario::find_lesson("allocated-vs-reserved");
  for (const char* machine : {"h200-1", "t4-1", "laptop-1"}) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    CHECK(!reached(step_of(lesson, "vary"), first.a, first.b));
    const Run twice = run_side(lesson, "B", machine, {batch(128)});
    CHECK(reached(step_of(lesson, "vary"), first.a, twice));
  }
}

TEST_CASE("creeping: two batches meet without no_grad, and a list of losses fills the card") {
  const Lesson lesson = scenario::find_lesson("memory-that-creeps");
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    const double batch = value(first.a, "memory.activations");
    CHECK(!first.b.ending);
    CHECK(value(first.b, "memory.peak_validating") > 1.9 * batch);
    CHECK(value(first.b, "memory.peak_validating") < 2.4 * batch);
    CHECK(value(first.a, "memory.peak_validating") < 0.5 * batch);
    // Training itself is the same: a kept loss is a block of 512 bytes.
    CHECK(value(first.b, "time.step") == Approx(value(first.a, "time.step")).epsilon(0.02));
    const scenario::Step &creep = step_of(lesson, "creep"), &cure = step_of(lesson, "cure");
    CHECK(!reached(creep, first.a, first.b));
    CHECK(!reached(cure, first.a, first.b));
    const Run creeping = run_side(lesson, "B", machine, {"validation.keep=loss"});
    CHECK(reached(creep, first.a, creeping));
    CHECK(!reached(cure, first.a, creeping));
    REQUIRE(creeping.ending);
    CHECK(sim::ran_out_of_memory(*creeping.ending));
    const Run cured =
        run_side(lesson, "B", machine, {"validation.keep=loss", "validation.no_grad=true"});
    CHECK(reached(cure, first.a, cured));
    CHECK(!reached(creep, first.a, cured));
    CHECK(value(cured, "memory.left_by_validation") == 512 * 6);
    CHECK(value(cured, "memory.rise") > value(first.a, "memory.rise"));
    CHECK(value(cured, "memory.rise") < value(first.a, "memory.rise") + 16 * 512);
  }
}

TEST_CASE("batch: throughput is far from growing with the batch, memory follows it") {
  on_every_machine("batch-size", [](const Run& a, const Run& b) {
    const double factor = value(b, "throughput.samples") / value(a, "throughput.samples");
    CHECK(factor > 2);
    CHECK(factor < 100);
    CHECK(value(b, "memory.peak_allocated") > 4 * value(a, "memory.peak_allocated"));
  });
}

TEST_CASE("batch: the goal can be reached on every machine, and a batch beyond it gains little") {
  const Lesson lesson = scenario::find_lesson("batch-size");
  const scenario::Step& goal = step_of(lesson, "goal");
  for (const std::string& machine : machine::machine_ids()) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    CHECK(!reached(goal, first.a, first.b));
    CHECK(scenario::solve_steps(lesson, {&first.a, &first.b}).contains("goal"));
    const Run twice = run_side(lesson, "B", machine, {batch(65536)});
    CHECK(value(twice, "throughput.samples") < 1.1 * value(first.b, "throughput.samples"));
  }
}

TEST_CASE("device: a step copies its batch, whatever the model weighs") {
  on_every_machine("where-is-my-tensor", [](const Run& a, const Run& b) {
    CHECK(value(b, "time.h2d") == Approx(value(a, "time.h2d")).epsilon(0.01));
    CHECK(value(b, "memory.parameters") > 15 * value(a, "memory.parameters"));
  });
}

TEST_CASE("device: data that lies on the GPU is not copied in a step") {
  const Lesson lesson = scenario::find_lesson("where-is-my-tensor");
  for (const std::string& machine : machine::machine_ids()) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    CHECK(!reached(step_of(lesson, "vary"), first.a, first.b));
    const Run there = run_side(lesson, "A", machine, {"data.location=device"});
    CHECK(reached(step_of(lesson, "vary"), there, first.b));
    CHECK(!analysis::value_of(there.metrics, "time.h2d"));
    CHECK(value(there, "time.step") < value(first.a, "time.step"));
  }
}

TEST_CASE("data set: on the GPU it takes its bytes and saves the copy") {
  on_every_machine("dataset-on-gpu", [](const Run& a, const Run& b) {
    // CIFAR-10: 50000 images of 3 x 32 x 32 numbers of 4 bytes, and labels of 8.
    const double set = 50000.0 * (3 * 32 * 32 * 4 + 8);
    CHECK(value(b, "memory.peak_allocated") - value(a, "memory.peak_allocated") ==
          Approx(set).epsilon(0.03));
    const double gain = value(a, "time.step") / value(b, "time.step");
    CHECK(gain > 1.02);
    CHECK(gain < 2);
    // A few steps do not pay back the copy of the whole set.
    CHECK(value(b, "time.total") > value(a, "time.total"));
  });
}

TEST_CASE("data set: ImageNet as floats fits no GPU, and the run says so") {
  const Lesson lesson = scenario::find_lesson("dataset-on-gpu");
  for (const std::string& machine : machine::machine_ids()) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    CHECK(!reached(step_of(lesson, "vary"), first.a, first.b));
    const Run large = run_side(lesson, "B", machine, {"data.name=imagenet"});
    CHECK(large.ending.has_value());
    CHECK(reached(step_of(lesson, "vary"), first.a, large));
  }
}

TEST_CASE("CPU: a tiny model trains faster on it, a large one on the GPU") {
  const Lesson lesson = scenario::find_lesson("small-model-cpu-wins");
  for (const std::string& machine : machine::machine_ids()) {
    INFO(machine);
    const Pair tiny = run_on(lesson, machine);
    CHECK(value(tiny.a, "time.step") < value(tiny.b, "time.step"));
    CHECK(value(tiny.b, "gpu.busy") < 0.5 * value(tiny.b, "time.step"));
    CHECK(!reached(step_of(lesson, "vary"), tiny.a, tiny.b));
    const std::vector<std::string> large{"model.hidden=8192", batch(4096)};
    const Pair wide = run_on(lesson, machine, large);
    CHECK(reached(step_of(lesson, "vary"), wide.a, wide.b));
    CHECK(!reached(step_of(lesson, "cores"), wide.a, wide.b));
    const Run few = run_side(lesson, "A", machine, {large[0], large[1], "host.cores=2"});
    CHECK(reached(step_of(lesson, "cores"), few, wide.b));
  }
}

TEST_CASE("first script: of two lines that wait for the same kernels both have to go") {
  const Lesson lesson = scenario::find_lesson("first-script");
  const scenario::Step& let_go = step_of(lesson, "let-go");
  for (const std::string& machine : lesson.machines)
    for (const char* seed : {"seed=0", "seed=1", "seed=2", "seed=3"}) {
      INFO(machine << " " << seed);
      const Pair pair = run_on(lesson, machine, {seed});
      CHECK(value(pair.b, "time.step") == Approx(value(pair.a, "time.step")).epsilon(0.01));
      const auto with = [&](std::vector<std::string> settings) {
        settings.emplace_back(seed);
        return run_side(lesson, "A", machine, settings);
      };
      CHECK_FALSE(reached(let_go, with({"loop.sync_timing=false"}), pair.b));
      CHECK_FALSE(reached(let_go, with({"loop.item_every=0"}), pair.b));
      CHECK(reached(let_go, with({"loop.sync_timing=false", "loop.item_every=0"}), pair.b));
    }
}

TEST_CASE("first script: a batch is not enough; nobody waits, or somebody else loads") {
  const Lesson lesson = scenario::find_lesson("first-script");
  const scenario::Step& goal = step_of(lesson, "goal");
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Run b = run_side(lesson, "B", machine);
    const auto reaches = [&](const std::vector<std::string>& settings) {
      return reached(goal, run_side(lesson, "A", machine, settings), b);
    };
    CHECK_FALSE(reaches({batch(65536)}));
    CHECK_FALSE(reaches({"loader.num_workers=4"}));
    CHECK_FALSE(reaches({"loop.sync_timing=false", "loop.item_every=0"}));
    CHECK_FALSE(reaches({batch(1024), "loop.item_every=0"}));
    CHECK(reaches({batch(1024), "loop.item_every=0", "loop.sync_timing=false"}));
    CHECK(reaches({batch(1024), "loader.num_workers=2"}));
    // Nor do smaller batches of B's.
    CHECK_FALSE(reached(goal, run_side(lesson, "A", machine, {batch(1024)}),
                        run_side(lesson, "B", machine, {batch(16)})));
  }
}
