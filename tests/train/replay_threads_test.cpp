// Replays of threads that another one lets begin, and that rest until then.
#include <catch2/catch.hpp>
#include <vector>

#include "support/made_trace.h"
#include "support/replays.h"

using namespace trainscope;
using namespace trainscope::test;
using trace::Category;

TEST_CASE("a thread begins once the main thread lets it, though that goes on meanwhile") {
  MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId main = made.lane(trace::LaneKind::kHostThread);
  const trace::LaneId other = made.lane(trace::LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(trace::LaneKind::kStream, 0);
  const trace::LaneId beside = made.lane(trace::LaneKind::kStream, 0);
  const auto add = [&](trace::LaneId lane, const char* name, Nanos start, Nanos end,
                       Category category, std::uint32_t correlation = 0) {
    made.add(lane, name, start * kMicrosecond, end * kMicrosecond, category, correlation);
  };
  add(main, "cudaLaunchKernel", 0, 10, Category::kHostApi, 1);
  add(stream, "kernel", 15, 1000, Category::kKernel, 1);
  add(main, "cudaStreamSynchronize", 20, 1001, Category::kHostApi);
  add(main, "Thread.start", 1001, 1021, Category::kHostWork);
  add(other, "aten::relu", 1011, 1041, Category::kHostWork);
  add(other, "cudaLaunchKernel", 1031, 1041, Category::kHostApi, 2);
  add(beside, "kernel", 1046, 1056, Category::kKernel, 2);
  add(main, "cudaLaunchKernel", 1061, 1071, Category::kHostApi, 3);
  add(stream, "kernel", 1076, 1086, Category::kKernel, 3);
  const TracePointer trace(&made.trace, [](const trace::Trace*) {});

  const auto starts = [&](const Settings& changes) {
    std::vector<Nanos> times;
    for (const Work& one : work_of(*replayed(trace, changes)))
      times.push_back(one.start / kMicrosecond);
    return times;
  };
  CHECK(starts({}) == std::vector<Nanos>{15, 1046, 1076});
  // The kernel that the main thread waits for takes 985 as it did.
  CHECK(starts({"replay.host_speed=2"}) == std::vector<Nanos>{10, 1021, 1036});
}

TEST_CASE("replicas of DataParallel wait for the GPU as long as they did, however fast the host") {
  for (const char* batch : {"batch_size=16", "batch_size=128"}) {
    const Settings settings = training({"model.name=resnet50", "machine=a100-sxm-8", batch,
                                        "parallel.strategy=dp", "parallel.world_size=4"});
    INFO(batch);
    CHECK(foretold(settings, {"replay.host_speed=2"}, with_faster_host(machine_of(settings), 2)) ==
          Approx(1).epsilon(0.02));
  }
}
