// What the lessons about Llama claim, as properties of their runs.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "scenario/lesson.h"
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

// A side on the machine that the lesson gives it.
Run side(const Lesson& lesson, const char* label, const std::vector<std::string>& settings = {}) {
  program::Config flags;
  for (const std::string& setting : settings) flags.set_text(setting);
  return analysis::run_config(label, lesson.side(label, flags));
}

double kept_for_each(const Run& run) {
  return (value(run, "memory.parameters") + value(run, "memory.gradients") +
          value(run, "memory.optimizer")) /
         value(run, "model.parameters");
}

// What the loss has at once of a batch: logits in BF16, and in FP32 their log-probabilities, the
// gradients of these, and its own of the logits.
double bytes_of_loss(const Run& run) {
  return 14.0 *
         static_cast<double>(run.config.whole("batch_size") * run.config.whole("model.seq_len") *
                             run.config.whole("model.vocab_size"));
}

}  // namespace

TEST_CASE("sixteen bytes: the second step finds gradients and averages there, and no room") {
  const Lesson lesson = scenario::find_lesson("sixteen-bytes-a-parameter");
  const Run b = side(lesson, "B");
  for (const char* machine : {"machine=rtx4090-1", "machine=rtx3090-1"}) {
    INFO(machine);
    const Run a = side(lesson, "A", {machine});
    REQUIRE(a.ending);
    CHECK(sim::ran_out_of_memory(*a.ending));
    CHECK(kept_for_each(a) == Approx(16).epsilon(0.001));
    const Run first = side(lesson, "A", {machine, "steps=1"});
    CHECK(!first.ending);
    CHECK(!reached(step_of(lesson, "vary-type"), a, b));
    const Run narrow = side(lesson, "A", {machine, "model.dtype=bf16"});
    CHECK(!narrow.ending);
    CHECK(kept_for_each(narrow) == Approx(8).epsilon(0.001));
    CHECK(reached(step_of(lesson, "vary-type"), narrow, b));
    const Run sgd = side(lesson, "A", {machine, "optimizer.name=sgd"});
    CHECK(kept_for_each(sgd) == Approx(8).epsilon(0.001));
    CHECK(!reached(step_of(lesson, "vary-type"), sgd, b));
  }
}

TEST_CASE("sixteen bytes: shards grow as GPUs become fewer, activations do not") {
  const Lesson lesson = scenario::find_lesson("sixteen-bytes-a-parameter");
  const Run a = side(lesson, "A"), eight = side(lesson, "B");
  for (const int ranks : {2, 3, 4}) {
    INFO(ranks);
    const Run b = side(lesson, "B", {"parallel.world_size=" + std::to_string(ranks)});
    CHECK(value(b, "memory.optimizer") ==
          Approx(8 * value(b, "model.parameters") / ranks).epsilon(0.01));
    CHECK(value(b, "memory.activations") ==
          Approx(value(eight, "memory.activations")).epsilon(0.01));
    CHECK(reached(step_of(lesson, "vary-gpus"), a, b) == (ranks > 2));
  }
}

TEST_CASE("vocabulary: blocks' checkpoints leave the whole difference, smaller batches do not") {
  const Lesson lesson = scenario::find_lesson("vocabulary-of-128k");
  const auto more = [](const Pair& pair) {
    return value(pair.a, "memory.peak_allocated") - value(pair.b, "memory.peak_allocated");
  };
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    const Pair kept = run_on(lesson, machine, {"checkpoint.enabled=true"});
    CHECK(more(kept) == Approx(more(first)).epsilon(0.02));
    CHECK(value(kept.a, "memory.activations") > bytes_of_loss(kept.a));
    CHECK(value(kept.a, "memory.activations") < 1.15 * bytes_of_loss(kept.a));
    const scenario::Step &vary = step_of(lesson, "vary-checkpoint"),
                         &goal = step_of(lesson, "goal");
    CHECK(!reached(vary, first.a, first.b));
    CHECK(reached(vary, kept.a, kept.b));
    CHECK(!reached(goal, kept.a, kept.b));
    const Run alone = run_side(lesson, "A", machine, {"batch_size=2", "checkpoint.enabled=true"});
    CHECK(!reached(goal, alone, kept.b));
    const Run small = run_side(lesson, "A", machine,
                               {"batch_size=2", "accumulate_steps=4", "checkpoint.enabled=true"});
    CHECK(reached(goal, small, kept.b));
    // The notes: what compiles the model leaves the loss as it is.
    const Run compiled =
        run_side(lesson, "A", machine, {"compile.fuse=true", "checkpoint.enabled=true"});
    CHECK(value(compiled, "memory.activations") ==
          Approx(value(kept.a, "memory.activations")).epsilon(0.01));
  }
}

TEST_CASE("longer texts: as much memory for as many tokens, and more arithmetic of attention") {
  on_every_machine("same-tokens-longer-texts", [](const Run& a, const Run& b) {
    CHECK(value(b, "memory.peak_allocated") ==
          Approx(value(a, "memory.peak_allocated")).epsilon(0.01));
    CHECK(value(b, "time.step") > 1.15 * value(a, "time.step"));
    // 12 layers times width times length for each token, with no mask (PaLM, appendix B).
    const double tokens = 8192, longer = 8192 - 512;
    CHECK(value(b, "model.flops") - value(a, "model.flops") ==
          Approx(12.0 * 16 * 2048 * longer * tokens).epsilon(0.001));
  });
  const Lesson lesson = scenario::find_lesson("same-tokens-longer-texts");
  for (const std::string& machine : lesson.machines) {
    INFO(machine);
    const Pair first = run_on(lesson, machine);
    const scenario::Step& vary = step_of(lesson, "vary");
    CHECK(!reached(vary, first.a, first.b));
    CHECK(!reached(vary, first.a, run_side(lesson, "B", machine, {"model.seq_len=2048"})));
    CHECK(reached(vary, first.a,
                  run_side(lesson, "B", machine, {"model.seq_len=2048", "batch_size=4"})));
  }
}
