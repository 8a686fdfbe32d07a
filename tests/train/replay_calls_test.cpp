// Replays of a few made calls: who waited for whom, and what a call takes besides.
#include <catch2/catch.hpp>
#include <vector>

#include "support/config.h"
#include "support/made_trace.h"
#include "support/replays.h"

using namespace trainscope;
using namespace trainscope::test;
using trace::Category;

namespace {

// A trace of some threads and one stream; times are in microseconds.
struct Recorded {
  test::MadeTrace made{trace::OriginKind::kImported};
  trace::LaneId main = thread(1), other = thread(2);
  trace::LaneId stream = made.lane(trace::LaneKind::kStream, 0);

  trace::LaneId thread(std::int64_t number) {
    trace::Lane lane;
    lane.kind = trace::LaneKind::kHostThread;
    lane.process = 1;
    lane.thread = number;
    return made.trace.add_lane(lane);
  }
  void call(trace::LaneId lane, const char* name, Nanos start, Nanos end,
            std::uint32_t correlation = 0) {
    made.add(lane, name, start * kMicrosecond, end * kMicrosecond, Category::kHostApi, correlation);
  }
  void kernel(Nanos start, Nanos end, std::uint32_t correlation) {
    made.add(stream, "kernel", start * kMicrosecond, end * kMicrosecond, Category::kKernel,
             correlation);
  }
  void copy_to(Nanos start, Nanos end, trace::Memory from, std::int64_t bytes,
               std::uint32_t correlation) {
    trace::CopyDetail detail;
    detail.bytes = bytes;
    detail.from = from;
    detail.to = trace::Memory::kDevice;
    add_copy("Memcpy HtoD", start, end, Category::kCopyH2D, detail, correlation);
  }
  void copy_back(Nanos start, Nanos end, std::uint32_t correlation) {
    trace::CopyDetail detail;
    detail.from = trace::Memory::kDevice;
    detail.to = trace::Memory::kPinned;
    add_copy("Memcpy DtoH (Device -> Pinned)", start, end, Category::kCopyD2H, detail, correlation);
  }
  void add_copy(const char* name, Nanos start, Nanos end, Category direction,
                const trace::CopyDetail& detail, std::uint32_t correlation) {
    trace::Span span;
    span.lane = stream;
    span.name = made.trace.intern(name);
    span.start = start * kMicrosecond;
    span.duration = (end - start) * kMicrosecond;
    span.category = direction;
    span.correlation = correlation;
    span.detail = made.trace.add_detail(detail);
    made.trace.add_span(span);
  }
  // When each work begins, in microseconds.
  std::vector<Nanos> starts(const Settings& changes = {}) const {
    const TracePointer trace(&made.trace, [](const trace::Trace*) {});
    std::vector<Nanos> times;
    for (const Work& one : work_of(*replayed(trace, changes)))
      times.push_back(one.start / kMicrosecond);
    return times;
  }
};

}  // namespace

TEST_CASE("calls that overlap without nesting lose no time") {
  Recorded one;
  std::vector<Nanos> expected;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const Nanos at = 100 * Nanos{i};
    one.call(one.main, "cudaLaunchKernel", at, at + 10, 2 * i + 1);
    one.call(one.main, "cudaLaunchKernel", at + 5, at + 95, 2 * i + 2);
    one.kernel(at + 20, at + 30, 2 * i + 1);
    one.kernel(at + 96, at + 98, 2 * i + 2);
    expected.insert(expected.end(), {at + 20, at + 96});
  }
  CHECK(one.starts() == expected);
}

TEST_CASE("a call waits for what was launched before it began, and not for more") {
  Recorded one;
  one.call(one.main, "cudaLaunchKernel", 0, 10, 1);
  one.kernel(15, 100, 1);
  one.call(one.main, "cudaStreamSynchronize", 20, 101);
  one.call(one.other, "cudaLaunchKernel", 50, 60, 2);
  one.kernel(101, 700, 2);
  one.call(one.main, "cudaLaunchKernel", 110, 120, 3);
  one.kernel(701, 710, 3);
  CHECK(one.starts() == std::vector<Nanos>{15, 101, 701});
  // The main thread's second kernel no longer begins behind the other thread's.
  CHECK(one.starts({"replay.kernel_speed=100"}) == std::vector<Nanos>{15, 45, 65});
}

TEST_CASE("cudaMemcpy holds the host until it is done, and cudaEventSynchronize until what was") {
  for (const char* call : {"cudaMemcpy", "hipMemcpyWithStream", "cudaEventSynchronize"}) {
    INFO(call);
    Recorded one;
    one.call(one.main, "cudaLaunchKernel", 0, 10, 1);
    one.kernel(15, 1000, 1);
    const bool copies = std::string_view(call) != "cudaEventSynchronize";
    one.call(one.main, call, 20, 1012, copies ? 2 : 0);
    if (copies) one.copy_back(1001, 1010, 2);
    one.call(one.main, "cudaLaunchKernel", 1020, 1030, 3);
    one.kernel(1035, 1040, 3);
    CHECK(one.starts().back() == 1035);
    CHECK(one.starts({"replay.kernel_speed=10"}).back() < 160);
  }
}

TEST_CASE("copies that are pinned in a replay take as long as the trace's own pinned ones") {
  constexpr std::int64_t kMiB = 1 << 20;
  Recorded one;
  one.call(one.main, "cudaMemcpyAsync", 0, 10, 1);
  one.copy_to(15, 215, trace::Memory::kPinned, 4 * kMiB, 1);
  one.call(one.main, "cudaMemcpyAsync", 300, 1300, 2);
  one.copy_to(310, 1295, trace::Memory::kPageable, 2 * kMiB, 2);
  one.call(one.main, "cudaLaunchKernel", 1310, 1315, 3);
  one.kernel(1320, 1400, 3);
  CHECK(one.starts() == std::vector<Nanos>{15, 310, 1320});
  const Nanos begins = one.starts({"replay.non_blocking=true"}).back();
  CHECK(begins >= 310 + 100);
  CHECK(begins < 310 + 100 + 15);
}

TEST_CASE("without pinned copies of its own a trace's link is that of the GPU it names") {
  const auto begins = [](const char* gpu, const Settings& changes) {
    Recorded one;
    one.made.trace.set_origin({trace::OriginKind::kImported, "test", gpu});
    one.call(one.main, "cudaMemcpyAsync", 0, 25'000, 1);
    one.copy_to(10, 24'995, trace::Memory::kPageable, 120'000'000, 1);
    one.call(one.main, "cudaLaunchKernel", 25'010, 25'015, 2);
    one.kernel(25'020, 25'100, 2);
    one.call(one.main, "cudaLaunchKernel", 25'020, 25'025, 3);
    one.kernel(25'101, 25'200, 3);
    return one.starts(changes)[1];
  };
  const Settings pinned{"replay.non_blocking=true"};
  // PCIe 3.0, 4.0 and 5.0 carry some 12, 25 and 55 GB/s.
  CHECK(begins("PyTorch profiler, schema 1, Tesla V100-SXM2-16GB", pinned) > 9'000);
  CHECK(begins("PyTorch profiler, schema 1, Tesla V100-SXM2-16GB", pinned) < 12'000);
  const Nanos a100 = begins("PyTorch profiler, schema 1, NVIDIA A100-SXM4-80GB", pinned);
  CHECK(a100 > 4'000);
  CHECK(a100 < 6'000);
  CHECK(begins("PyTorch profiler, schema 1, NVIDIA H100 80GB HBM3", pinned) < 3'000);
  CHECK(begins("PyTorch profiler, schema 1, NVIDIA H100 80GB HBM3",
               {"replay.non_blocking=true", "machine=v100-sxm-1"}) > 9'000);
  CHECK(begins("PyTorch profiler, schema 1", {}) == 25'020);
}

// The clocks of host and device may differ.
TEST_CASE("work that begins before its call is replayed behind it") {
  Recorded one;
  std::vector<Nanos> expected;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Nanos at = 100 * Nanos{i};
    one.call(one.main, "cudaLaunchKernel", at + 10, at + 20, i + 1);
    one.kernel(at + 8, at + 15, i + 1);
    expected.push_back(at + 10);
  }
  CHECK(one.starts() == expected);
}

TEST_CASE("a correlation that is given twice is of the call before the work") {
  Recorded one;
  std::vector<Nanos> expected;
  for (std::uint32_t i = 0; i < 10; ++i) {
    const Nanos at = 100 * Nanos{i};
    one.call(one.main, "cudaLaunchKernel", at + 10, at + 20, i % 3 + 1);
    one.kernel(at + 25, at + 45, i % 3 + 1);
    expected.push_back(at + 25);
  }
  CHECK(one.starts() == expected);
}

TEST_CASE("a thread that works while the main thread waits is waited for, and waits for it") {
  Recorded recorded;
  test::MadeTrace& made = recorded.made;
  const trace::LaneId main = recorded.main, autograd = recorded.other, stream = recorded.stream;
  made.add(main, "aten::mm", 1000, 4000, Category::kHostWork);
  made.add(main, "cudaLaunchKernel", 2000, 3000, Category::kHostApi, 1);
  made.add(autograd, "MmBackward0", 6000, 9000, Category::kHostWork);
  made.add(autograd, "cudaLaunchKernel", 7000, 8000, Category::kHostApi, 2);
  made.add(main, "aten::add_", 11000, 14000, Category::kHostWork);
  made.add(main, "cudaLaunchKernel", 12000, 13000, Category::kHostApi, 3);
  made.add(stream, "forward", 5000, 5500, Category::kForward, 1);
  made.add(stream, "backward", 10000, 10500, Category::kBackward, 2);
  made.add(stream, "optimizer", 15000, 15500, Category::kOptimizer, 3);
  const TracePointer trace(&made.trace, [](const trace::Trace*) {});

  const auto starts = [&](const Settings& changes) {
    std::vector<Nanos> times;
    for (const Work& one : work_of(*replayed(trace, changes))) times.push_back(one.start);
    return times;
  };
  CHECK(starts({}) == std::vector<Nanos>{5000, 10000, 15000});
  // The host's 3000, 8000 and 13000 ns to the end of each call are halved; the 2000 ns from there
  // to the GPU are not.
  CHECK(starts({"replay.host_speed=2"}) == std::vector<Nanos>{3500, 6000, 8500});
}

TEST_CASE("a wait is one though the GPU's clock is some microseconds late") {
  for (const Nanos late : {0, 2, 10}) {
    Recorded one;
    for (std::uint32_t i = 0; i < 4; ++i) {
      const Nanos at = 200 * Nanos{i};
      one.call(one.main, "cudaLaunchKernel", at + 10, at + 20, i + 1);
      one.kernel(at + 25 + late, at + 125 + late, i + 1);
      one.call(one.main, "cudaStreamSynchronize", at + 22, at + 126);
    }
    const std::vector<Nanos> faster = one.starts({"replay.kernel_speed=2"});
    INFO(late);
    REQUIRE(faster.size() == 4);
    for (std::size_t i = 1; i < faster.size(); ++i) CHECK(faster[i] - faster[i - 1] <= 150 + late);
  }
}

TEST_CASE("what a call takes besides its wait stays where the host waits no more") {
  Recorded one;
  one.call(one.main, "cudaLaunchKernel", 10, 20, 1);
  one.kernel(25, 125, 1);
  one.call(one.main, "cudaFree", 300, 6300);
  one.call(one.main, "cudaLaunchKernel", 6310, 6320, 2);
  one.kernel(6325, 6425, 2);
  CHECK(one.starts({"replay.synchronise=false"}) == one.starts());
  Recorded waits;
  waits.call(waits.main, "cudaLaunchKernel", 10, 20, 1);
  waits.kernel(25, 1025, 1);
  waits.call(waits.main, "cudaFree", 30, 2030);  // of which 995 us are a wait
  waits.call(waits.main, "cudaLaunchKernel", 2040, 2050, 2);
  waits.kernel(2055, 2155, 2);
  CHECK(waits.starts({"replay.synchronise=false"}) == std::vector<Nanos>{25, 1060});
}

TEST_CASE("kernels that are launched one behind another come close once the host costs nothing") {
  Recorded one;
  constexpr std::uint32_t kKernels = 50;
  for (std::uint32_t i = 0; i < kKernels; ++i) {
    const Nanos at = 60 * Nanos{i};
    one.call(one.main, "cudaLaunchKernel", at, at + 5, i + 1);
    one.kernel(at + 12, at + 62, i + 1);  // 12 us after the call, 10 us after the one before
  }
  const std::vector<Nanos> starts = one.starts({"replay.host_speed=1000"});
  CHECK(starts.back() - starts.front() <= 52 * Nanos{kKernels - 1});
}

TEST_CASE("a kernel that begins at the end of a long call begins early where the host is faster") {
  Recorded one;
  for (std::uint32_t i = 1; i <= 5; ++i) {
    const Nanos at = 100 * Nanos{i};
    one.call(one.main, "cudaLaunchKernel", at, at + 10, i);
    one.kernel(at + 8, at + 20, i);
  }
  one.call(one.main, "cudaLaunchKernel", 1000, 3'100'000, 6);
  one.kernel(3'099'990, 3'100'100, 6);
  const std::vector<Nanos> starts = one.starts({"replay.host_speed=1000"});
  CHECK(starts.back() < 4000);
}

TEST_CASE("a faster host makes no shorter what is no operator's, nor a launch's") {
  struct Stretch {
    const char* call;  // null: nothing is recorded
    Nanos lasts;       // us
    bool stays;
  };
  for (const auto& [call, lasts, stays] :
       {Stretch{"cudaFuncGetAttributes", 400, false}, Stretch{"cudaMalloc", 400, true},
        Stretch{"cudaFree", 400, true},
        Stretch{"cudaDeviceGetStreamPriorityRange", 30'000'000, true}, Stretch{nullptr, 400, false},
        Stretch{nullptr, 18'000, true}}) {
    INFO((call ? call : "nothing") << " for " << lasts << " us");
    Recorded one;
    one.call(one.main, "cudaLaunchKernel", 0, 10, 1);
    one.kernel(15, 20, 1);
    if (call) one.call(one.main, call, 10, 10 + lasts);
    one.call(one.main, "cudaLaunchKernel", 10 + lasts, 20 + lasts, 2);
    one.kernel(25 + lasts, 30 + lasts, 2);
    const std::vector<Nanos> once = one.starts(), faster = one.starts({"replay.host_speed=1000"});
    CHECK(once[1] - once[0] == 10 + lasts);
    CHECK(faster[1] - faster[0] >= (stays ? lasts : 0));
    CHECK(faster[1] - faster[0] <= (stays ? lasts : 0) + 10);
  }
}

TEST_CASE("while another thread of its rank works, a thread that rests is as fast as the rest") {
  Recorded one;
  one.call(one.main, "cudaLaunchKernel", 0, 10, 1);
  one.kernel(15, 20, 1);
  for (Nanos at = 10; at < 18'000; at += 100) one.call(one.other, "cudaEventQuery", at, at + 90);
  one.call(one.main, "cudaLaunchKernel", 18'010, 18'020, 2);
  one.kernel(18'025, 18'030, 2);
  const std::vector<Nanos> faster = one.starts({"replay.host_speed=2"});
  CHECK(faster[1] - faster[0] <= 9'010);
}

TEST_CASE(
    "a function of Python's that calls nothing lasts as long with a faster host as without "
    "frames") {
  const auto second = [](bool with_frames) {
    Recorded one;
    one.call(one.main, "cudaLaunchKernel", 0, 10, 1);
    one.kernel(15, 25, 1);
    if (with_frames)
      one.made.add(one.main, "train.py(90): log_metrics", 20 * kMicrosecond, 5'020 * kMicrosecond,
                   Category::kHostWork);
    one.call(one.main, "cudaLaunchKernel", 5'030, 5'040, 2);
    one.kernel(5'045, 5'055, 2);
    return one.starts({"replay.host_speed=2"})[1];
  };
  CHECK(second(true) > 5'000);
  CHECK(second(true) == second(false));
}

TEST_CASE("of a rank alone, what a collective waits for the others stays as long as it was") {
  Recorded one;
  const std::vector<Nanos> lasted{20, 60, 30, 20};  // us, of the same sum
  for (std::uint32_t i = 0; i < lasted.size(); ++i) {
    const Nanos at = 200 * Nanos{i};
    one.call(one.main, "cudaLaunchKernel", at + 10, at + 20, i + 1);
    trace::Span span;
    span.lane = one.stream;
    span.name = one.made.trace.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    span.start = (at + 25) * kMicrosecond;
    span.duration = lasted[i] * kMicrosecond;
    span.category = Category::kCollective;
    span.correlation = i + 1;
    trace::CollectiveDetail detail;
    detail.operation = "allreduce";
    detail.elements_in = detail.elements_out = 1000;
    detail.group_size = 8;
    span.detail = one.made.trace.add_detail(detail);
    one.made.trace.add_span(span);
  }
  const TracePointer trace(&one.made.trace, [](const trace::Trace*) {});
  std::vector<Nanos> twice_as_fast;
  for (const Work& work : work_of(*replayed(trace, {"replay.communication_speed=2"})))
    twice_as_fast.push_back((work.end - work.start) / kMicrosecond);
  CHECK(twice_as_fast == std::vector<Nanos>{10, 50, 20, 10});
}
