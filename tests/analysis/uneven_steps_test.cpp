// What is said of recorded steps that are not alike, and of work that was not recorded.
#include "analysis/caveats/uneven_steps.h"

#include <catch2/catch.hpp>

#include "analysis/advice/what_if.h"
#include "analysis/caveats/lost_kernels.h"
#include "analysis/recorded_loop.h"

using namespace trainscope;
using analysis::Run;
using Catch::Matchers::Contains;
using test::Loop;

namespace {

// Steps of 40 ms, but for the first, which the host begins so much later; of what the profiler
// records meanwhile.
Run with_slow_first(Nanos later, const char* overhead) {
  Loop loop;
  for (int i = 0; i < 4; ++i) {
    loop.begin_step();
    const Nanos begun = loop.now();
    if (i == 0) loop.rest(later);
    if (overhead && i == 0) loop.add_overhead(overhead, begun + 100, loop.now() - 100);
    loop.run_kernels();
    loop.synchronise();
    loop.end_step();
  }
  return loop.run();
}

}  // namespace

TEST_CASE("a step that takes far longer than the middle one is told, with what took it") {
  CHECK(analysis::uneven_steps_caveat(with_slow_first(10'000, nullptr).facts.measured).empty());
  const Run slow = with_slow_first(60'000, nullptr);
  CHECK(slow.caveat ==
        "One of the 4 measured steps takes 2.5 times as long as the middle one: the times of a "
        "step are the mean of all");
  CHECK_THAT(with_slow_first(60'000, "Runtime Triggered Module Loading").caveat,
             Contains("the mean of all. 60 % of such a step is CUDA's loading of kernels"));
  CHECK_THAT(with_slow_first(60'000, "Activity Buffer Request").caveat,
             Contains("60 % of such a step is the profiler's own work"));
  CHECK(with_slow_first(60'000, "aten::mm").caveat == slow.caveat);
}

TEST_CASE("the times of steps are of those without a rest of the profiler's between them") {
  Loop loop;
  for (const int number : {5, 6, 15, 16, 17, 25, 26}) {
    if (number % 10 == 5) loop.rest(500'000);
    loop.begin_step();
    loop.run_kernels();
    loop.synchronise();
    loop.end_step(number);
  }
  const Run run = loop.run();
  CHECK(run.facts.measured.first_step == 2);
  CHECK(run.facts.measured.steps == 3);
  CHECK(*analysis::value_of(run.metrics, "time.step") == Approx(40e6).epsilon(0.01));
  CHECK_THAT(run.caveat, Contains("The numbers of its 7 steps leave some out"));
  for (const analysis::StepWindow& step : analysis::step_windows(*run.trace))
    CHECK(step.window.end - step.window.start < 45'000'000);
}

namespace {

Run with_lost(int a_step) {
  Loop loop;
  for (int i = 0; i < 4; ++i) {
    loop.begin_step();
    loop.run_kernels();
    loop.launch_what_is_lost(a_step);
    loop.synchronise();
    loop.end_step();
  }
  return loop.run();
}

}  // namespace

TEST_CASE("launches whose kernels are not in a trace are counted, and many are not replayed") {
  CHECK(with_lost(0).caveat.empty());
  const Run few = with_lost(2);
  CHECK_THAT(few.caveat, Contains("The kernels of 8 of 168 launches are not in this trace"));
  CHECK(analysis::what_if(few)->refusal.empty());
  const Run many = with_lost(10);
  CHECK_THAT(many.caveat, Contains("The kernels of 40 of 200 launches are not in this trace"));
  CHECK_THAT(analysis::what_if(many)->refusal, Contains("40 of 200 launches"));
}
