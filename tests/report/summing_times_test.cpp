#include "report/summing_times.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <string>

#include "report/comparison.h"
#include "support/lesson_runs.h"

using namespace trainscope;

namespace {

// "-0.17 ms" in the last of its digits.
std::int64_t ticks(std::string time) {
  time.resize(time.find(' '));
  std::erase(time, '.');
  return std::strtoll(time.c_str(), nullptr, 10);
}

void sums(const report::PrintedSum& sum) {
  std::int64_t at = ticks(sum.from);
  for (const report::PrintedStep& step : sum.steps) at += ticks(step.time);
  INFO(sum.from << " to " << sum.to);
  CHECK(at == ticks(sum.to));
}

}  // namespace

TEST_CASE("times that add up are printed in one unit and sum to the last digit") {
  const report::PrintedSum sum = report::printed_sum(
      83'513'000, 64'646'400,
      {{analysis::Part::kCompute, -18'700'600}, {analysis::Part::kIdleGap, -166'000}});
  CHECK(sum.from == "83.51 ms");
  CHECK(sum.to == "64.65 ms");
  REQUIRE(sum.steps.size() == 2);
  CHECK(sum.steps[0].time == "-18.70 ms");
  CHECK(sum.steps[1].time == "-0.16 ms");
  sums(sum);
}

TEST_CASE("a part of nanoseconds makes no time beside it longer to read") {
  const report::PrintedSum sum = report::printed_sum(
      20e6, 21e6 + 3, {{analysis::Part::kCompute, 1e6}, {analysis::Part::kMemset, 3}});
  CHECK(sum.from == "20.00 ms");
  CHECK(sum.to == "21.00 ms");
  REQUIRE(sum.steps.size() == 1);
  CHECK(sum.steps[0].time == "+1.00 ms");
  sums(sum);
}

TEST_CASE("parts of less than a thousandth are told together") {
  const report::PrintedSum sum = report::printed_sum(20e6, 21.03e6,
                                                     {{analysis::Part::kCompute, 1e6},
                                                      {analysis::Part::kMemset, 18'000},
                                                      {analysis::Part::kIdleGap, 12'000}});
  REQUIRE(sum.steps.size() == 2);
  CHECK(report::name_of(sum.steps[0]) == "kernels");
  CHECK(report::name_of(sum.steps[1]) == "smaller causes");
  CHECK(sum.steps[1].time == "+0.03 ms");
  CHECK(sum.steps[1].to == 21.03e6);
  sums(sum);
}

TEST_CASE("no time is printed finer than a nanosecond") {
  const report::PrintedSum sum = report::printed_sum(
      900, 901, {{analysis::Part::kCompute, 0.9}, {analysis::Part::kMemset, 0.1}});
  CHECK(sum.from == "900 ns");
  REQUIRE(sum.steps.size() == 1);
  CHECK(sum.steps[0].time == "+1 ns");
}

TEST_CASE("the parts of lessons' differences sum to them, as they are and as they are printed") {
  for (const char* id : {"pinned-vs-pageable", "batch-size", "channels-last", "num-workers",
                         "default-stream", "buckets-and-overlap", "straggler", "pipeline-bubble",
                         "gradient-accumulation", "small-model-cpu-wins"}) {
    INFO(id);
    const scenario::Lesson lesson = scenario::find_lesson(id);
    const analysis::Run a = analysis::run_config("A", lesson.side("A"));
    const analysis::Run b = analysis::run_config("B", lesson.side("B"));
    const report::Comparison comparison = report::compare_times(a, b);
    double sum = 0;
    for (const analysis::Change& change : comparison.changes) sum += change.nanos;
    CHECK(std::abs(sum - (test::value(b, "time.step") - test::value(a, "time.step"))) < 1e-3);
    sums(report::printed_sum(comparison.time_a, comparison.time_b, comparison.changes));
  }
}
