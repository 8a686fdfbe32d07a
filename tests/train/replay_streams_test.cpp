// Replays of streams of one GPU, of which one waits for another.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "support/made_trace.h"
#include "support/replays.h"

using namespace trainscope;
using namespace trainscope::test;
using trace::Category;

// The host is far ahead, and waits once a step: few kernels wait for nothing but their call, and as
// many begin on a stream that is free and wait for the other one.
TEST_CASE("what a stream waits for another one's is not taken for the time from call to kernel") {
  MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId host = made.lane(trace::LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(trace::LaneKind::kStream, 0);
  const trace::LaneId beside = made.lane(trace::LaneKind::kStream, 0);
  std::vector<Nanos> recorded;
  for (std::uint32_t step = 0; step < 3; ++step) {
    const Nanos at = 2000 * Nanos{step};
    const auto add = [&](trace::LaneId lane, const char* name, Nanos start, Nanos end,
                         Category category, std::uint32_t correlation) {
      made.add(lane, name, (at + start) * kMicrosecond, (at + end) * kMicrosecond, category,
               correlation);
    };
    add(host, "cudaLaunchKernel", 0, 5, Category::kHostApi, 4 * step + 1);
    add(host, "cudaLaunchKernel", 10, 15, Category::kHostApi, 4 * step + 2);
    add(host, "cudaLaunchKernel", 20, 25, Category::kHostApi, 4 * step + 3);
    add(host, "cudaDeviceSynchronize", 30, 1110, Category::kHostApi, 4 * step + 4);
    add(stream, "kernel", 5, 505, Category::kKernel, 4 * step + 1);
    add(stream, "kernel", 505, 1005, Category::kKernel, 4 * step + 2);
    add(beside, "sum", 1005, 1105, Category::kKernel, 4 * step + 3);
    recorded.insert(recorded.end(), {at + 5, at + 505, at + 1005});
  }
  const TracePointer trace(&made.trace, [](const trace::Trace*) {});

  const auto starts = [&](const Settings& changes) {
    std::vector<Nanos> times;
    for (const Work& one : work_of(*replayed(trace, changes)))
      times.push_back(one.start / kMicrosecond);
    return times;
  };
  CHECK(starts({}) == recorded);
  std::vector<Nanos> faster = starts({"replay.kernel_speed=2"});
  faster.resize(3);
  CHECK(faster == std::vector<Nanos>{5, 255, 505});
}
