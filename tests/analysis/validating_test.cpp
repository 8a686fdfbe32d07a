// Validations between training steps: no part of any step, and what they leave in memory.
#include "analysis/steps/validating.h"

#include <catch2/catch.hpp>

#include "analysis/advice/advice.h"
#include "analysis/advice/memory_fit.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/runs/run.h"
#include "analysis/steps/step_marks.h"
#include "sim/ending.h"
#include "support/config.h"
#include "support/metric_value.h"

using namespace trainscope;
using analysis::Run;
using Catch::Matchers::Contains;
using test::Settings;
using test::value;

namespace {

const Settings kGpt{"machine=l40s-1",     "model.name=gpt2", "batch_size=4",     "steps=12",
                    "data.source=tensor", "precision=bf16",  "model.seq_len=256"};

Run run_with(Settings settings, const Settings& more) {
  settings.insert(settings.end(), more.begin(), more.end());
  return analysis::run_config("A", test::config_of(settings));
}

}  // namespace

TEST_CASE("a validation is no part of a step's time, whatever it takes") {
  const Run plain = run_with(kGpt, {});
  for (const char* every : {"validation.every=1", "validation.every=5", "validation.every=12"}) {
    INFO(every);
    const Run run = run_with(kGpt, {"validation.batches=4", every});
    CHECK(value(run, "time.step") == Approx(value(plain, "time.step")).epsilon(0.02));
    CHECK(value(run, "time.validation") > 0.3 * value(plain, "time.step"));
    for (const analysis::Interval& mark :
         analysis::first_validations(*run.trace, analysis::marks_by_rank(*run.trace)))
      for (const analysis::Interval& step : run.facts.measured.marks)
        CHECK((mark.end <= step.start || mark.start >= step.end));
  }
  const Run five = run_with(kGpt, {"validation.batches=4", "validation.every=5"});
  CHECK(five.facts.measured.steps == 5);
  CHECK(five.facts.measured.first_step == 5);
  const Run each = run_with(kGpt, {"validation.batches=1"});
  CHECK(each.facts.measured.steps == 1);
  CHECK(each.facts.measured.first_step == 2);  // the one before still calls cudaMalloc
  CHECK_FALSE(analysis::value_of(plain.metrics, "time.validation"));
  CHECK_FALSE(analysis::value_of(plain.metrics, "memory.peak_validating"));
}

TEST_CASE("what a validation leaves in memory is told, and adds up to the peak") {
  const Settings often{"validation.batches=3", "validation.every=3"};
  const auto run = [&](const char* keep, const char* no_grad) {
    Settings more = often;
    more.insert(more.end(), {keep, no_grad});
    return run_with(kGpt, more);
  };
  const Run frugal = run("validation.keep=item", "validation.no_grad=true");
  const Run careless = run("validation.keep=item", "validation.no_grad=false");
  const Run creeping = run("validation.keep=loss", "validation.no_grad=false");
  CHECK(value(frugal, "memory.left_by_validation") == 0);
  CHECK(value(careless, "memory.left_by_validation") == 0);
  CHECK(value(frugal, "memory.peak_validating") < value(careless, "memory.peak_validating"));
  const double left = value(creeping, "memory.left_by_validation");
  CHECK(left > 0);
  // Four validations, and the last leaves what nobody trains beside.
  CHECK(value(creeping, "memory.peak_allocated") >=
        value(frugal, "memory.peak_allocated") + 2 * left);
  // A loss takes a block of 512 bytes (c10/cuda/CUDACachingAllocator.cpp, kMinBlockSize).
  CHECK(value(run("validation.keep=loss", "validation.no_grad=true"),
              "memory.left_by_validation") == 3 * 512);
  // The rise is that of the steps alone.
  CHECK(value(creeping, "memory.rise") < value(frugal, "memory.rise") + 0.1 * left);
  // What is worked out without time agrees with the run.
  for (const Run* one : {&frugal, &careless, &creeping})
    CHECK(static_cast<double>(analysis::memory_need(*one->program).allocated) ==
          value(*one, "memory.peak_allocated"));
}

TEST_CASE("a validation that runs out of memory is told, with the knobs that make room") {
  const Run run =
      run_with(kGpt, {"batch_size=16", "model.seq_len=512", "steps=40", "validation.batches=8",
                      "validation.every=5", "validation.no_grad=false", "validation.keep=loss"});
  REQUIRE(run.ending);
  CHECK(sim::ran_out_of_memory(*run.ending));
  const auto* why = std::get_if<sim::OutOfMemory>(&*run.ending);
  REQUIRE(why);
  CHECK(run.program->listing.lines[why->line - 1U].find("out = model(x)") != std::string::npos);
  bool names_validation = false;
  for (const auto& holder : why->holders)
    names_validation |= holder.name.find(", validation") != std::string::npos;
  CHECK(names_validation);
  const std::string advice = analysis::out_of_memory_advice(run, {});
  CHECK_THAT(advice, Contains("torch.no_grad() around the validation") &&
                         Contains("validation.keep") &&
                         Contains("Each alone makes room enough (SIMULATED): "
                                  "validation.no_grad=true; validation.keep=item"));
}
