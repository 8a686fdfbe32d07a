// Loss scaling on the number line, against FP16 and BF16 themselves.
#include "analysis/views/loss_scaling.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "analysis/runs/run.h"
#include "host/float_types.h"

using namespace trainscope;
using namespace trainscope::analysis;
using program::ElementType;

namespace {

trace::TrainingStep step_of(std::int64_t number, double used, double after, bool skipped = false) {
  trace::TrainingStep step;
  step.step = number;
  step.time = 100 * (number + 1);
  step.used_scale = used;
  step.loss_scale = after;
  step.skipped = skipped;
  return step;
}

// Gradients over many powers of two, as training has them.
std::vector<float> gradients(std::size_t count) {
  std::mt19937 random(7);
  std::normal_distribution<float> power(-24, 7);
  std::uniform_real_distribution<float> mantissa(1, 2);
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(std::ldexp(mantissa(random), static_cast<int>(std::floor(power(random)))));
  return values;
}

// What FP16 makes of them, but for 65520 to 65536, which overflows within a power of two.
double lost_in_fp16(const std::vector<float>& values, float scale) {
  std::size_t lost = 0;
  for (const float value : values) {
    const float rounded = host::to_float(host::to_float16(value * scale));
    lost += rounded == 0 || (std::isinf(rounded) && value * scale >= 65536) ? 1 : 0;
  }
  return static_cast<double>(lost) / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("the shares lost before and after scaling are those that FP16 loses") {
  const std::vector<float> values = gradients(200000);
  for (const float scale : {1.0F, 1024.0F, 65536.0F, 0x1p40F}) {
    trace::Trace trace{trace::Origin{}};
    trace::TrainingStep step = step_of(0, scale, scale);
    step.has_gradients = true;
    for (const float value : values) step.gradients.add(value * scale);
    trace.add_step(step);
    const auto state = scaling_at(trace, 100);
    REQUIRE(state);
    const NumberLine line = number_line(ElementType::kFp16);
    INFO(scale);
    CHECK(state->after.lost(line) == Approx(lost_in_fp16(values, scale)).epsilon(1e-9));
    CHECK(state->before.lost(line) == Approx(lost_in_fp16(values, 1)).epsilon(1e-9));
    double all = 0;
    for (const Region region :
         {Region::kZero, Region::kSubnormal, Region::kNormal, Region::kInfinity})
      all += state->after.share_in(region, line);
    CHECK(all == Approx(1));
    CHECK(state->before.lost(number_line(ElementType::kBf16)) == 0);
  }
}

TEST_CASE("the regions begin where the types say") {
  const auto region_of = [](float value, ElementType type) {
    trace::Trace trace{trace::Origin{}};
    trace::TrainingStep step = step_of(0, 1, 1);
    step.gradients.add(value);
    trace.add_step(step);
    const auto state = scaling_at(trace, 100);
    for (const Region region :
         {Region::kZero, Region::kSubnormal, Region::kNormal, Region::kInfinity})
      if (state->after.share_in(region, number_line(type)) == 1) return region;
    FAIL("in no region");
    return Region::kZero;
  };
  const auto fp16 = [&](float value) { return region_of(value, ElementType::kFp16); };
  CHECK(fp16(0x1.fffp-26F) == Region::kZero);
  CHECK(fp16(0x1.001p-25F) == Region::kSubnormal);
  CHECK(fp16(0x1.ffcp-15F) == Region::kSubnormal);
  CHECK(fp16(0x1p-14F) == Region::kNormal);
  CHECK(fp16(65504) == Region::kNormal);
  CHECK(fp16(65536) == Region::kInfinity);
  CHECK(fp16(INFINITY) == Region::kInfinity);
  CHECK(fp16(NAN) == Region::kInfinity);
  CHECK(region_of(0x1p-50F, ElementType::kBf16) == Region::kNormal);
}

TEST_CASE("a scale between two powers of two divides a bin among two") {
  trace::Trace trace{trace::Origin{}};
  trace::TrainingStep step = step_of(0, 3, 3);
  for (int i = 0; i < 10; ++i) step.gradients.add(1);
  trace.add_step(step);
  const auto state = scaling_at(trace, 100);
  double sum = 0, first = 0;
  for (std::size_t i = 0; i < state->before.bins.size(); ++i) {
    sum += state->before.bins[i];
    first += state->before.bins[i] * (trace::Magnitudes::kLeast + static_cast<double>(i));
  }
  CHECK(sum == Approx(1));
  CHECK(first == Approx(-std::log2(3.0)));
}

TEST_CASE("the state is that of the last step done, with its clean steps") {
  trace::Trace trace{trace::Origin{}};
  CHECK_FALSE(scaling_at(trace, 1000));
  trace.add_step(step_of(0, 8, 8));
  trace.add_step(step_of(1, 8, 4, true));
  trace.add_step(step_of(2, 4, 4));
  trace.add_step(step_of(3, 4, 8));
  trace.add_step(step_of(4, 8, 8));
  CHECK_FALSE(scaling_at(trace, 99));
  CHECK(scaling_at(trace, 100)->clean == 1);
  CHECK(scaling_at(trace, 200)->skipped);
  CHECK(scaling_at(trace, 200)->clean == 0);
  CHECK(scaling_at(trace, 399)->step == 2);
  CHECK(scaling_at(trace, 399)->clean == 1);
  CHECK(scaling_at(trace, 500)->clean == 1);
  const ScaleHistory history = scale_history(trace);
  CHECK(history.scale == std::vector<double>{8, 8, 4, 4, 8});
  CHECK(history.skipped == std::vector<std::int64_t>{1});
  CHECK(history.least == 4);
  CHECK(history.most == 8);
}

TEST_CASE(
    "a run that trains in FP16 has a state at each of its steps, one without a scaler no scale") {
  const auto run = [](std::initializer_list<const char*> settings) {
    program::Config config;
    for (const char* setting : settings) config.set_text(setting);
    return run_config("A", config);
  };
  const Run scaled = run({"workload=train", "data.name=digits", "steps=12", "precision=fp16",
                          "scaler.enabled=true", "scaler.inject_inf_at=3"});
  const trace::Trace& trace = *scaled.trace;
  REQUIRE(trace.steps().size() == 12);
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto state = scaling_at(trace, trace.steps()[i].time);
    REQUIRE(state);
    CHECK(state->step == i);
    CHECK(state->skipped == (i == 3));
    REQUIRE(state->has_gradients);
    CHECK((state->after.infinite > 0) == (i == 3));
  }
  CHECK(scale_history(trace).most == 65536);
  const Run plain = run({"workload=train", "data.name=digits", "steps=3", "precision=bf16"});
  CHECK(scale_history(*plain.trace).empty());
  CHECK_FALSE(scaling_at(*plain.trace, plain.trace->end())->scaled);
}

TEST_CASE("the step that loses most counts what is lost on the way, and no skipped step") {
  trace::Trace trace{trace::Origin{}};
  CHECK_FALSE(step_that_loses_most(trace));
  const auto add = [&](std::int64_t number, float gradient, std::int64_t lost, bool skipped) {
    trace::TrainingStep step = step_of(number, 8, 8, skipped);
    step.has_gradients = true;
    step.gradients.add(8 * gradient);
    step.rounded = 10;
    step.lost_to_zero = lost;
    trace.add_step(step);
  };
  add(0, 0x1p-30F, 9, true);
  CHECK(step_that_loses_most(trace) == 0);
  add(1, 1, 0, false);
  CHECK(step_that_loses_most(trace) == 1);
  add(2, 1, 2, false);
  add(3, 1, 1, false);
  CHECK(step_that_loses_most(trace) == 2);
  add(4, 1, 2, false);
  CHECK(step_that_loses_most(trace) == 4);  // as much, and later
  add(5, 0x1p-30F, 0, false);
  CHECK(step_that_loses_most(trace) == 5);
}

TEST_CASE("gradients that are zero are told apart from those that are drawn by their size") {
  trace::Trace trace{trace::Origin{}};
  trace::TrainingStep step = step_of(0, 8, 8);
  for (const float value : {0.0F, 0.0F, 0.0F, 1.0F}) step.gradients.add(value);
  trace.add_step(step);
  const auto state = scaling_at(trace, 100);
  CHECK(state->zeros == 0.75);
  CHECK(state->after.share_in(Region::kNormal, number_line(ElementType::kFp16)) == 1);
}
