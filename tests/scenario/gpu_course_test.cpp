// What the lessons about the inside of a GPU claim, as properties of their runs.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "scenario/lesson.h"
#include "scenario/solution.h"
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

// The task of turning knobs.
bool reached(const Lesson& lesson, const Run& a, const Run& b) {
  const auto step =
      std::ranges::find(lesson.steps, scenario::StepKind::kVary, &scenario::Step::kind);
  REQUIRE(step != lesson.steps.end());
  return test::reached(*step, a, b);
}

// Whether the runs with the task's solution do, on every machine, and those of the lesson do not.
void solves(const char* id) {
  const Lesson lesson = scenario::find_lesson(id);
  on_every_machine(id, [&](const Run& a, const Run& b) {
    CHECK_FALSE(reached(lesson, a, b));
    CHECK(scenario::solve_steps(lesson, {&a, &b}).size() == 1);
  });
}

}  // namespace

TEST_CASE("occupancy cliff: a register more halves the warps, and the rate of reading with them") {
  on_every_machine("occupancy-cliff", [](const Run& a, const Run& b) {
    CHECK(value(a, "occupancy.theoretical") == 1);
    CHECK(value(b, "occupancy.theoretical") == 0.5);
    CHECK(value(b, "time.step") > 1.3 * value(a, "time.step"));
    CHECK(value(b, "sm.tail_idle") < 0.05);
  });
  solves("occupancy-cliff");
  // Smaller blocks in the same grid are less work, and no answer.
  const Lesson lesson = scenario::find_lesson("occupancy-cliff");
  const Pair pair = run_on(lesson, "h200-1");
  CHECK_FALSE(reached(lesson, pair.a, run_side(lesson, "B", "h200-1", {"kernel.block=256"})));
}

TEST_CASE("more occupancy: a quarter of the warps is as fast, an eighth is not") {
  on_every_machine("more-occupancy-is-not-always-faster", [](const Run& a, const Run& b) {
    CHECK(value(a, "occupancy.theoretical") == 1);
    CHECK(value(b, "occupancy.theoretical") < 0.4);
    CHECK(value(b, "time.step") == Approx(value(a, "time.step")).epsilon(0.03));
    CHECK(value(b, "bound.compute") > 0.9);
  });
  solves("more-occupancy-is-not-always-faster");
  const Lesson lesson = scenario::find_lesson("more-occupancy-is-not-always-faster");
  const Pair pair = run_on(lesson, "h100-sxm-1");
  const Run wide = run_side(lesson, "B", "h100-sxm-1", {"kernel.registers=255", "kernel.ilp=4"});
  CHECK(value(wide, "time.step") == Approx(value(pair.a, "time.step")).epsilon(0.05));
}

TEST_CASE("GPU-Util: one block on one SM shows as much as twenty on twenty") {
  on_every_machine("gpu-util-100", [](const Run& a, const Run& b) {
    CHECK(value(a, "gpu.util") > 0.97);
    CHECK(value(b, "gpu.util") == Approx(value(a, "gpu.util")).epsilon(0.01));
    CHECK(value(a, "sm.utilization") == Approx(1.0 / a.machine->gpu.sm_count).epsilon(0.01));
    CHECK(value(b, "time.step") == Approx(value(a, "time.step")).epsilon(0.01));
    CHECK(value(b, "flops.achieved") == Approx(20 * value(a, "flops.achieved")).epsilon(0.01));
  });
}

TEST_CASE("compute, memory or overhead: rows are free until the ridge") {
  on_every_machine("compute-memory-or-overhead", [](const Run& a, const Run& b) {
    CHECK(value(a, "bound.memory") > 0.7);
    CHECK(value(b, "bound.memory") > 0.7);
    CHECK(value(b, "roofline.intensity") < value(b, "roofline.ridge"));
    CHECK(value(b, "time.step") < 1.4 * value(a, "time.step"));
  });
  solves("compute-memory-or-overhead");
  const Lesson lesson = scenario::find_lesson("compute-memory-or-overhead");
  const Run small = run_side(lesson, "B", "h200-1", {"gemm.m=256", "gemm.n=256", "gemm.k=256"});
  CHECK(value(small, "bound.overhead") > 0.5);
}

TEST_CASE("tensor cores: PyTorch's default leaves them out of float32's matrix products") {
  on_every_machine("tensor-cores", [](const Run& a, const Run& b) {
    CHECK(value(a, "flops.achieved") < a.machine->gpu.fp32_flops_per_s);
    CHECK(value(b, "flops.achieved") > 2 * b.machine->gpu.fp32_flops_per_s);
    CHECK(value(b, "roofline.intensity") == value(a, "roofline.intensity"));
    CHECK(value(b, "gpu.util") == Approx(value(a, "gpu.util")).epsilon(0.05));
  });
  solves("tensor-cores");
}

TEST_CASE("L2 fits: the same traffic is faster where its array stays in the cache") {
  on_every_machine("l2-fits", [](const Run& a, const Run& b) {
    CHECK(value(a, "time.step") > 1.8 * value(b, "time.step"));
    CHECK(value(a, "roofline.intensity") == value(b, "roofline.intensity"));
    CHECK(value(a, "bound.memory") > 0.9);
    CHECK(value(b, "bound.memory") > 0.9);
  });
  solves("l2-fits");
}

TEST_CASE("alignment: a number more in every row slows tensor cores, a few more do not") {
  on_every_machine("align-to-tensor-cores", [](const Run& a, const Run& b) {
    CHECK(value(b, "time.step") > 1.3 * value(a, "time.step"));
    CHECK(value(b, "sm.waves") == value(a, "sm.waves"));
    CHECK(value(b, "flops.achieved") > 2 * b.machine->gpu.fp32_flops_per_s);
  });
  solves("align-to-tensor-cores");
  const Lesson lesson = scenario::find_lesson("align-to-tensor-cores");
  // An odd number of rows is not the same as rows of an odd length.
  const Pair odd = run_on(lesson, "h200-1", {"gemm.m=8191", "gemm.k=8192"});
  CHECK(value(odd.b, "time.step") < 1.05 * value(run_on(lesson, "h200-1").a, "time.step"));
}

TEST_CASE(
    "channels last: tensor cores need no transposes, and without them it is the slower order") {
  on_every_machine("channels-last", [](const Run& a, const Run& b) {
    CHECK(value(a, "time.step") > 1.08 * value(b, "time.step"));
    CHECK(value(a, "model.flops") == value(b, "model.flops"));
    CHECK(value(a, "launch.calls") > value(b, "launch.calls"));
  });
  solves("channels-last");
}

TEST_CASE(
    "cudnn.benchmark: the first step pays, the others gain, and sizes that change pay again") {
  on_every_machine("cudnn-benchmark", [](const Run& a, const Run& b) {
    CHECK(value(b, "time.first_timer") > 1.5 * value(a, "time.first_timer"));
    CHECK(value(b, "time.step") < value(a, "time.step"));
  });
  solves("cudnn-benchmark");
  const Lesson lesson = scenario::find_lesson("cudnn-benchmark");
  // Where sizes come back, only their first time is slow.
  const std::vector<std::string> two{"data.image_sizes=2", "steps=12"};
  const Run first = run_side(lesson, "A", "v100-sxm-1", two);
  const Run second = run_side(lesson, "B", "v100-sxm-1", two);
  CHECK(value(second, "time.step") < 1.5 * value(first, "time.step"));
}

TEST_CASE("fuse it: two operations in one kernel take half the time of two kernels") {
  on_every_machine("fuse-it", [](const Run& a, const Run& b) {
    CHECK(value(a, "time.step") == Approx(2 * value(b, "time.step")).epsilon(0.03));
    CHECK(value(b, "roofline.intensity") == Approx(2 * value(a, "roofline.intensity")));
    CHECK(value(a, "bound.memory") > 0.8);
  });
  solves("fuse-it");
}

TEST_CASE("attention: not writing the scores down saves memory and time, at about the arithmetic") {
  on_every_machine("sdpa", [](const Run& a, const Run& b) {
    CHECK(value(a, "memory.activations") > 2 * value(b, "memory.activations"));
    CHECK(value(a, "time.step") > 1.1 * value(b, "time.step"));
    CHECK(value(b, "flops.step") > 0.9 * value(a, "flops.step"));
    CHECK(value(b, "model.flops") == value(a, "model.flops"));
    CHECK(value(b, "roofline.intensity") > 1.5 * value(a, "roofline.intensity"));
  });
  const Lesson lesson = scenario::find_lesson("sdpa");
  const Pair halved = run_on(lesson, "h200-1", {"model.seq_len=1024"});
  CHECK(reached(lesson, halved.a, halved.b));
}

TEST_CASE(
    "GPT-2: tensor cores first, then what the products leave, and all three for the last bit") {
  on_every_machine("make-gpt2-fast", [](const Run& a, const Run& b) {
    CHECK(value(a, "bound.compute") > 0.7);
    CHECK(value(b, "bound.compute") < 0.8 * value(a, "bound.compute"));
    const auto step_of_a = [&](const std::vector<std::string>& settings) {
      return value(run_side(scenario::find_lesson("make-gpt2-fast"), "A", a.machine->id, settings),
                   "time.step");
    };
    const double fp32 = value(a, "time.step"), bf16 = step_of_a({"precision=bf16"});
    CHECK(bf16 < 0.4 * fp32);
    CHECK(step_of_a({"compile.fuse=true"}) > 0.8 * fp32);
    CHECK(step_of_a({"attention.kernel=flash"}) > 0.75 * fp32);
    // What brought little in FP32 brings a third in BF16.
    CHECK(step_of_a({"precision=bf16", "compile.fuse=true"}) < 0.7 * bf16);
    CHECK(step_of_a({"precision=bf16", "attention.kernel=flash"}) < 0.6 * bf16);
  });
  const Lesson lesson = scenario::find_lesson("make-gpt2-fast");
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Run b = run_side(lesson, "B", machine);
    CHECK_FALSE(reached(lesson, run_side(lesson, "A", machine), b));
    std::vector<std::string> settings{"precision=bf16", "attention.kernel=flash"};
    CHECK_FALSE(reached(lesson, run_side(lesson, "A", machine, settings), b));
    settings.emplace_back("compile.fuse=true");
    CHECK(reached(lesson, run_side(lesson, "A", machine, settings), b));
  }
}

TEST_CASE("which GPU: a card with more FLOP/s and less bandwidth takes longer for a small model") {
  const Lesson lesson = scenario::find_lesson("which-gpu");
  const Run a = analysis::run_config("A", lesson.side("A"));
  const Run b = analysis::run_config("B", lesson.side("B"));
  CHECK(a.machine->gpu.fp16_flops_per_s > b.machine->gpu.fp16_flops_per_s);
  CHECK(a.machine->gpu.memory_bytes_per_s < b.machine->gpu.memory_bytes_per_s);
  CHECK(value(a, "time.step") > 1.1 * value(b, "time.step"));
  CHECK(value(a, "bound.memory") > 0.5);
  CHECK_FALSE(reached(lesson, a, b));
  const Run other = run_side(lesson, "B", "rtx3090-1");
  CHECK(reached(lesson, a, other));
  // Where there are products alone, the lead that bandwidth gives is gone.
  const std::string product[] = {"workload=gemm", "gemm.m=8192", "gemm.n=8192", "gemm.k=8192"};
  const auto time_on = [&](const char* machine) {
    return value(run_side(lesson, "A", machine, {std::begin(product), std::end(product)}),
                 "time.step");
  };
  CHECK(time_on("l40s-1") < 1.1 * time_on("a100-40-sxm-1"));
}

TEST_CASE("a power limit lowers one roof, and costs less speed than power") {
  const Lesson lesson = scenario::find_lesson("power-limit");
  const Run a = analysis::run_config("A", lesson.side("A"));
  const Run b = analysis::run_config("B", lesson.side("B"));
  const double slower = value(b, "time.step") / value(a, "time.step");
  CHECK(slower > 1.02);
  CHECK(slower < 350.0 / 230);
  CHECK(b.machine->gpu.fp32_flops_per_s < a.machine->gpu.fp32_flops_per_s);
  CHECK(b.machine->gpu.memory_bytes_per_s == a.machine->gpu.memory_bytes_per_s);
  // MFU is of the card as delivered: it falls with the speed.
  CHECK(value(b, "mfu") == Approx(value(a, "mfu") / slower).epsilon(0.001));
  CHECK_FALSE(reached(lesson, a, b));
  CHECK(reached(lesson, a, run_side(lesson, "B", "rtx3090-1", {"power_limit=300"})));
}
