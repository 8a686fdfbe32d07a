// What a GPU that does nothing waits for.
#include "analysis/causes/partition.h"

#include <catch2/catch.hpp>

#include <vector>

#include "support/made_trace.h"

using namespace trainscope;
using analysis::Part;
using analysis::Partition;
using trace::Category;
using trace::LaneKind;

namespace {

// Two kernels that are launched at once, 4 ns apart, and one that is launched late, 12 ns behind.
Partition of_three_kernels(trace::OriginKind origin) {
  test::MadeTrace made(origin);
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(LaneKind::kStream, 0);
  std::uint32_t calls = 0;
  const auto add = [&](Nanos call, const analysis::Interval& work) {
    trace::Span kernel;
    kernel.correlation = ++calls;
    kernel.cause_span =
        made.add(host, "cudaLaunchKernel", call, call + 2, Category::kHostApi, calls);
    kernel.cause = trace::Cause::kLaunch;
    kernel.category = Category::kKernel;
    kernel.lane = stream;
    kernel.name = made.trace.intern("kernel");
    kernel.start = work.start;
    kernel.duration = work.end - work.start;
    made.trace.add_span(kernel);
  };
  add(0, {10, 20});
  add(3, {24, 28});
  add(30, {40, 50});
  return analysis::partition(analysis::measure_whole(made.trace, nullptr, nullptr));
}

// Kernels on two streams of a GPU, or on one stream of each of two.
Partition of_two_streams(const std::vector<analysis::Interval>& first,
                         const std::vector<analysis::Interval>& second, int second_gpu = 0) {
  test::MadeTrace made;
  const trace::LaneId one = made.lane(LaneKind::kStream, 0);
  const trace::LaneId other = made.lane(LaneKind::kStream, second_gpu);
  for (const analysis::Interval& work : first)
    made.add(one, "kernel_a", work.start, work.end, Category::kKernel);
  for (const analysis::Interval& work : second)
    made.add(other, "kernel_b", work.start, work.end, Category::kKernel);
  return analysis::partition(analysis::measure_whole(made.trace, nullptr, nullptr));
}

double sum_of(const std::vector<analysis::Change>& changes) {
  double sum = 0;
  for (const analysis::Change& one : changes) sum += one.nanos;
  return sum;
}

}  // namespace

TEST_CASE(
    "in a profiler's trace the gap before a kernel launched in time is no wait for a launch") {
  const Partition imported = of_three_kernels(trace::OriginKind::kImported);
  CHECK(imported[Part::kCompute] == 24);
  CHECK(imported[Part::kIdleGap] == 4);
  CHECK(imported[Part::kIdleLaunch] == 22);
}

TEST_CASE("a trace that says what a kernel waited for last is believed") {
  const Partition told = of_three_kernels(trace::OriginKind::kSimulated);
  CHECK(told[Part::kIdleGap] == 0);
  CHECK(told[Part::kIdleLaunch] == 26);
}

TEST_CASE("the same kernels at once save that they run one after another") {
  const Partition a = of_two_streams({{0, 40}, {80, 120}}, {{40, 80}, {120, 160}});
  const Partition b = of_two_streams({{0, 40}, {40, 80}}, {{0, 40}, {40, 80}});
  CHECK(a.kernels_summed == 160);
  CHECK(b.kernels_summed == 160);
  const auto changes = analysis::compare_by_order(a, 1, b, 1, 1);
  REQUIRE(changes.size() == 1);
  CHECK(analysis::name_of(changes[0]) == "kernels one after another");
  CHECK(changes[0].nanos == -80);
  // A kernel that is cut by the window's end is no other kernel.
  const Partition cut = of_two_streams({{0, 40}, {40, 80}}, {{0, 39}, {40, 80}});
  const auto nearly = analysis::compare_by_order(a, 1, cut, 1, 1);
  REQUIRE(nearly.size() == 1);
  CHECK(nearly[0].by_order);
  CHECK(nearly[0].nanos == -80);
  // Whoever asks for parts is told the kernels' whole change.
  const auto parts = analysis::compare(a, 1, b, 1);
  REQUIRE(parts.size() == 1);
  CHECK(analysis::name_of(parts[0]) == "kernels");
  CHECK(analysis::key_of(parts[0].part) == "compute");
  CHECK(parts[0].nanos == -80);
}

TEST_CASE("kernels that slow each other down are told apart from what running at once saves") {
  const Partition a = of_two_streams({{0, 40}}, {{40, 80}});
  const Partition b = of_two_streams({{0, 80}}, {{0, 80}});
  const auto changes = analysis::compare_by_order(a, 1, b, 1, 1);
  REQUIRE(changes.size() == 2);
  CHECK(sum_of(changes) == 0);
  CHECK(analysis::compare(a, 1, b, 1).empty());
  for (const analysis::Change& one : changes) {
    CHECK(one.part == Part::kCompute);
    CHECK(one.nanos == (one.by_order ? -80 : 80));
  }
  // In steps, and back again.
  CHECK(sum_of(analysis::compare_by_order(b, 2, a, 1, 1)) == 40);
  // What differs by no more than asked is not told apart.
  CHECK(analysis::compare_by_order(a, 1, b, 1, 80).empty());
}

TEST_CASE("kernels of several GPUs together are not one after another") {
  const Partition two = of_two_streams({{0, 40}}, {{0, 40}}, 1);
  CHECK(two[Part::kCompute] == 40);
  CHECK(two.kernels_summed == 40);
}
