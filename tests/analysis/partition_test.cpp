// What a GPU that does nothing waits for.
#include "analysis/partition.h"

#include <catch2/catch.hpp>

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
