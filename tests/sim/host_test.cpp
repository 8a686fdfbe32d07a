// Host threads and what they share: cores, locks, the disk, the launch queue; and what they ask of
// the device beside launches and copies.

#include <catch2/catch.hpp>
#include <memory>

#include "base/error.h"
#include "support/bench_program.h"

using namespace trainscope;
using namespace trainscope::program;
using trace::Category;
using trace::Cause;
using trace::Span;
using Bench = test::BenchProgram;

namespace {

constexpr Nanos kWork = 10 * kMillisecond;

std::unique_ptr<Bench> workers(int count, int cores) {
  auto bench = std::make_unique<Bench>();
  bench->machine.host.cores = cores;
  for (int i = 0; i < count; ++i) {
    const std::size_t thread =
        bench->add_thread("worker " + std::to_string(i), ThreadRole::kLoaderWorker);
    bench->add(HostWork{kWork, true}, thread);
  }
  return bench;
}

}  // namespace

TEST_CASE("more busy threads than cores share the cores, and the spans name them as the cause") {
  const auto enough = workers(3, 4), scarce = workers(3, 2);
  enough->run();
  scarce->run();
  CHECK(enough->trace.end() == kWork);
  CHECK(scarce->trace.end() == Approx(kWork * 3 / 2).margin(3));
  CHECK(enough->find("worker 0", "load").cause != Cause::kCore);
  CHECK(scarce->find("worker 0", "load").cause == Cause::kCore);
}

TEST_CASE("a thread that waits needs no core") {
  Bench bench;
  bench.machine.host.cores = 1;
  bench.add(Launch{0, 0});
  bench.add(DeviceSync{});
  const std::size_t worker = bench.add_thread("worker", ThreadRole::kLoaderWorker);
  bench.add(HostWork{500 * kMicrosecond, true}, worker);
  bench.run();
  const Nanos calls = bench.machine.host.launch_call_ns + bench.machine.host.sync_call_ns;
  CHECK(bench.find("worker", "load").end() == Approx(500 * kMicrosecond + calls).margin(3));
}

TEST_CASE("copies within host memory take a core") {
  Bench bench;
  bench.machine.host.cores = 1;
  for (int i = 0; i < 2; ++i) {
    const auto thread = bench.add_thread("pin " + std::to_string(i), ThreadRole::kPinThread);
    bench.add(HostCopy{Bench::kBig}, thread);
  }
  bench.run();
  const double alone =
      static_cast<double>(Bench::kBig) / bench.machine.host.memcpy_bytes_per_s * 1e9;
  CHECK(static_cast<double>(bench.trace.end()) == Approx(2 * alone).epsilon(0.001));
}

TEST_CASE("page-locked memory takes a core for as long as its pages are locked") {
  Bench bench;
  bench.machine.host.cores = 1;
  bench.machine.host.page_lock_bytes_per_s = 2e9;
  for (int i = 0; i < 2; ++i) {
    const auto thread = bench.add_thread("pin " + std::to_string(i), ThreadRole::kPinThread);
    bench.add(HostAlloc{2'000'000}, thread);
  }
  bench.run();
  CHECK(bench.trace.end() == Approx(2 * kMillisecond).margin(4));
  for (const char* lane : {"pin 0", "pin 1"})
    CHECK(bench.find(lane, "cudaHostAlloc").category == Category::kHostApi);
}

TEST_CASE("a lock is held by one thread at a time and given in the order of asking") {
  Bench bench;
  bench.program.locks.push_back({"the interpreter's lock"});
  for (int i = 0; i < 3; ++i) {
    const auto thread = bench.add_thread("thread " + std::to_string(i), ThreadRole::kPinThread);
    bench.add(HostWork{1000 * i, false}, thread);
    bench.add(Acquire{0}, thread);
    bench.add(HostWork{kWork, false}, thread);
    bench.add(Release{0}, thread);
  }
  bench.run();
  for (int i = 1; i < 3; ++i) {
    const std::string lane = "thread " + std::to_string(i);
    const Span wait = bench.find(lane, "waits for the interpreter's lock");
    CHECK(wait.cause == Cause::kLock);
    CHECK(wait.end() == i * kWork);
    CHECK(bench.find(lane, "work", 1).start == i * kWork);
  }
}

TEST_CASE("threads of one interpreter run the Python part of their operators in turn") {
  const auto run = [](bool shared) {
    auto bench = std::make_unique<Bench>();
    bench->program.locks.push_back({"the interpreter's lock"});
    bench->program.threads[0].interpreter = 0;
    const auto other = bench->add_thread("pin thread", ThreadRole::kPinThread);
    if (shared) bench->program.threads[other].interpreter = 0;
    for (int i = 0; i < 50; ++i) {
      bench->add(FrameworkCall{});
      bench->add(FrameworkCall{}, other);
    }
    bench->run("pytorch-eager");
    return bench;
  };
  const auto apart = run(false), together = run(true);
  CHECK(apart->trace.end() == 50 * apart->machine.host.eager_operator_ns);
  CHECK(together->trace.end() > apart->trace.end());
  CHECK(together->trace.end() >= 100 * together->machine.host.interpreter_call_ns);
  // Only the Python part is in turn.
  CHECK(together->trace.end() < 100 * together->machine.host.eager_operator_ns);
}

TEST_CASE("an operator may cost several of the profile's, unless torch.compile launches it") {
  const auto time_of = [](const std::string& profile, bool compiled) {
    Bench bench;
    bench.machine.host.eager_operator_ns = 10'000;
    bench.machine.host.compiled_operator_ns = 4'000;
    bench.program.operations[0].host_cost = 2.5;
    bench.program.operations[0].compiled = compiled;
    bench.add(Launch{0, 0});
    bench.run(profile);
    return bench.find("host main", "aten::op").duration - bench.machine.host.launch_call_ns;
  };
  CHECK(time_of("pytorch-eager", false) == 25'000);
  CHECK(time_of("pytorch-eager", true) == 4'000);
  CHECK(time_of("pytorch-compiled", false) == 4'000);
}

TEST_CASE("an operator costs its host as much where the CPU computes it itself") {
  const auto time_of = [](double cost) {
    Bench bench;
    bench.machine.host.eager_operator_ns = 10'000;
    bench.program.operations[0].host_cost = cost;
    bench.add(Compute{0});
    bench.run("pytorch-eager");
    return bench.trace.end();
  };
  CHECK(time_of(2.5) - time_of(1) == 15'000);
}

TEST_CASE("readers share the disk, and wait for it without a core") {
  Bench bench;
  bench.machine.host.cores = 1;
  constexpr std::int64_t kBytes = 100 << 20;
  for (int i = 0; i < 2; ++i) {
    const auto thread = bench.add_thread("worker " + std::to_string(i), ThreadRole::kLoaderWorker);
    bench.add(DiskRead{kBytes, 10}, thread);
  }
  bench.run();
  const machine::Host& host = bench.machine.host;
  const double expected =
      2.0 * kBytes / host.disk_bytes_per_s * 1e9 + 10.0 * static_cast<double>(host.disk_latency_ns);
  CHECK(static_cast<double>(bench.find("worker 0", "read").duration) ==
        Approx(expected).epsilon(0.001));
}

TEST_CASE("a launch waits while the launch queue is full, and the host then runs with the device") {
  Bench bench;
  bench.machine.host.launch_queue = 4;
  for (int i = 0; i < 10; ++i) bench.add(Launch{0, 0});
  bench.run();
  for (int i = 4; i < 10; ++i) {
    const Span done = bench.find("stream 7", "kernel", i - 4);
    CHECK(bench.find("host main", "cudaLaunchKernel", i).end() >= done.end());
  }
  const Span held = bench.find("host main", "launch queue full");
  CHECK(held.category == Category::kHeld);
  CHECK(held.cause == Cause::kRoom);
  CHECK(bench.all("stream 7", "kernel").size() == 10);
}

TEST_CASE("a captured launch costs the host its time and runs when its graph is launched") {
  Bench bench;
  bench.program.graphs.push_back({"step"});
  bench.add(BeginCapture{0, 0});
  for (int i = 0; i < 5; ++i) bench.add(Launch{0, 0});
  bench.add(EndCapture{0});
  bench.add(GraphInstantiate{0});
  bench.add(HostWork{kMillisecond, false});
  bench.add(GraphLaunch{0, 0});
  bench.add(GraphLaunch{0, 0});
  bench.run();
  CHECK(bench.all("host main", "cudaLaunchKernel").size() == 5);
  const auto kernels = bench.all("stream 7", "kernel");
  REQUIRE(kernels.size() == 10);
  CHECK(kernels.front().start >= bench.find("host main", "cudaGraphLaunch").end());
  CHECK(graph_nodes(bench.program) == std::vector<std::int64_t>{5});
}

TEST_CASE("what CUDA forbids during a capture is refused, naming the command") {
  const auto refused = [](Action action, const char* why) {
    Bench bench;
    bench.program.graphs.push_back({"step"});
    bench.add(BeginCapture{0, 0});
    bench.add(action);
    bench.add(EndCapture{0});
    CHECK_THROWS_WITH(validate(bench.program), Catch::Contains(why));
  };
  refused(StreamSync{0}, "command 1 of thread host main waits for the device while a graph");
  refused(DeviceSync{}, "waits for the device while a graph is captured");
  refused(ReadScalar{{0, 2, 4, 0}}, "waits for the device while a graph is captured");
  refused(Copy{1, 0, 8, 0}, "copies on a stream that is captured");
  refused(GraphLaunch{0, 0}, "a graph that its thread has not captured");
}

TEST_CASE("an event that is recorded on the streams of two GPUs is refused") {
  Bench bench;
  program::Stream other = bench.program.streams.front();
  other.device = 1;
  bench.program.streams.push_back(other);
  const auto second = static_cast<program::Index>(bench.program.streams.size() - 1);
  bench.program.events = 2;
  bench.add(RecordEvent{0, 0});
  bench.add(RecordEvent{1, second});
  bench.add(StreamWait{second, 0});
  CHECK_NOTHROW(validate(bench.program));
  bench.add(RecordEvent{0, second});
  CHECK_THROWS_WITH(validate(bench.program), "thread host main records on GPU 1 an event of GPU 0");
}

TEST_CASE("item() waits for everything before it on its stream, then reads its value") {
  Bench bench;
  bench.add(Launch{0, 0});
  bench.add(ReadScalar{{Bench::kDevice, Bench::kPageable, 4, 0}});
  bench.add(HostWork{1000, false});
  bench.run();
  const Span kernel = bench.find("stream 7", "kernel");
  const Span copy = bench.find("stream 7", "Memcpy DtoH");
  CHECK(copy.start >= kernel.end());
  CHECK(bench.find("host main", "waits for the stream").end() >= kernel.end());
  CHECK(bench.find("host main", "work").start >= copy.end());
  CHECK(bench.all("host main", "cudaStreamSynchronize").size() == 1);
}

TEST_CASE("a host buffer that is read before its copy is done is marked, one read after is not") {
  for (const bool waits : {false, true}) {
    Bench bench;
    bench.add(Copy{Bench::kDevice, Bench::kPinned, Bench::kBig, 0});
    if (waits) bench.add(StreamSync{0});
    bench.add(HostRead{Bench::kPinned});
    bench.add(HostWrite{Bench::kPinned});
    bench.run();
    CHECK(bench.all("host main", "too early: reads pinned").size() == (waits ? 0 : 1));
    CHECK(bench.all("host main", "too early: writes pinned").size() == (waits ? 0 : 1));
  }
}

TEST_CASE("a cycle of waits is named with its threads, queues and lines") {
  Bench bench;
  bench.program.queues = {{"batches", 1}, {"index lists", 1}};
  bench.program.listing.lines = {"for x, y in loader:", "    indices = queue.get()"};
  const auto worker = bench.add_thread("loader worker 0", ThreadRole::kLoaderWorker);
  bench.add(Take{0, 0}, 0, 1);
  bench.add(Push{1, 0});
  bench.add(Pop{1}, worker, 2);
  bench.add(Push{0, 0}, worker);
  CHECK_THROWS_WITH(bench.run(),
                    "the program cannot go on: a cycle of waits: host main (line 1: for x, y in "
                    "loader:) waits for an item of the queue 'batches', which loader worker 0 "
                    "fills; loader worker 0 (line 2: indices = queue.get()) waits for an item of "
                    "the queue 'index lists', which host main fills");
}

TEST_CASE("locks taken in opposite order are named as a cycle") {
  Bench bench;
  bench.program.locks = {{"lock a"}, {"lock b"}};
  const auto other = bench.add_thread("other", ThreadRole::kPinThread);
  for (const auto& [thread, first, second] :
       {std::tuple{std::size_t{0}, 0u, 1u}, std::tuple{other, 1u, 0u}}) {
    bench.add(Acquire{first}, thread);
    bench.add(HostWork{100, false}, thread);
    bench.add(Acquire{second}, thread);
    bench.add(Release{second}, thread);
    bench.add(Release{first}, thread);
  }
  CHECK_THROWS_WITH(bench.run(), Catch::Contains("a cycle of waits: host main waits for lock b, "
                                                 "which other holds; other waits for lock a"));
}

TEST_CASE("a lock that is taken twice or never returned is refused") {
  Bench bench;
  bench.program.locks = {{"lock a"}};
  bench.add(Acquire{0});
  CHECK_THROWS_WITH(validate(bench.program), Catch::Contains("never returns the lock lock a"));
  bench.add(Acquire{0});
  CHECK_THROWS_WITH(validate(bench.program), Catch::Contains("takes a lock that it holds"));
}

TEST_CASE("launching a graph takes constant time and a nanosecond a node, as since CUDA 12.6") {
  for (const int nodes : {1, 100, 1025}) {
    Bench bench;
    bench.machine = machine::load_machine("rtx3090-1");
    bench.program.graphs.push_back({"step"});
    bench.add(BeginCapture{0, 0});
    for (int i = 0; i < nodes; ++i) bench.add(Launch{0, 0});
    bench.add(EndCapture{0});
    bench.add(GraphInstantiate{0});
    bench.add(GraphLaunch{0, 0});
    bench.run();
    // 2.5 us + about 1 ns a node (NVIDIA, constant-time launch, RTX 3060): within 15 %.
    CHECK(static_cast<double>(bench.find("host main", "cudaGraphLaunch").duration) ==
          Approx(2500 + nodes).epsilon(0.15));
  }
}
