// Copies and streams as CUDA documents them.

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "support/bench_program.h"

using namespace trainscope;
using namespace trainscope::program;
using trace::Category;
using trace::Span;

namespace {

using Bench = test::BenchProgram;
constexpr Index kDeviceBuffer = Bench::kDevice, kPinnedBuffer = Bench::kPinned,
                kPageableBuffer = Bench::kPageable;
constexpr std::int64_t kBig = Bench::kBig;

}  // namespace

TEST_CASE("a copy to another GPU takes its link, and two to one GPU share its port") {
  const machine::Machine machine = machine::load_machine("dgx1-v100-8");
  const auto end_of = [&](const std::vector<std::pair<int, int>>& copies) {
    Program program;
    program.threads.push_back({"host main", ThreadRole::kMain, 0, {}});
    for (const auto& [from, to] : copies) {
      const auto stream = static_cast<Index>(program.streams.size());
      program.streams.push_back({"stream 7", 7, StreamKind::kNonBlocking, 0, from});
      for (const int gpu : {from, to}) {
        program.buffers.push_back({"buffer", kBig, MemoryKind::kDevice, Role::kWorkspace});
        program.buffers.back().device = gpu;
      }
      const auto last = static_cast<Index>(program.buffers.size() - 1);
      program.threads[0].commands.push_back(
          {Copy{last - 1, last, kBig, stream}, kNoIndex, 0, Phase::kNone});
    }
    trace::Trace trace{trace::Origin{}};
    sim::Simulation(program, machine, "native", trace).finish();
    return static_cast<double>(trace.end());
  };
  const double one_link = 25e9 * 0.88;  // an NVLink of a V100 carries 25 GB/s
  const double begin = static_cast<double>(machine.host.copy_call_ns + machine.pcie.h2d_latency_ns);
  CHECK(end_of({{0, 1}}) == Approx(begin + kBig / one_link * 1e9).epsilon(0.001));
  CHECK(end_of({{0, 3}}) == Approx(begin + kBig / (2 * one_link) * 1e9).epsilon(0.001));
  // GPUs 0 and 5 share no link and hang on two processors: through host memory.
  CHECK(end_of({{0, 5}}) > 3 * end_of({{0, 1}}));
  // Links of their own, and a port that takes all six of them.
  CHECK(end_of({{0, 1}, {2, 1}, {3, 1}}) < 1.1 * end_of({{0, 1}}));
  CHECK(end_of({{0, 4}, {0, 4}, {5, 4}, {6, 4}, {7, 4}, {7, 4}, {7, 4}, {7, 4}}) >
        1.2 * end_of({{0, 4}, {5, 4}}));
}

TEST_CASE("a copy within the device is L2's as long as both places fit there") {
  const auto rate_of = [](const char* id, std::int64_t bytes) {
    Bench bench;
    bench.machine = machine::load_machine(id);
    bench.program.buffers.push_back({"other", kBig, MemoryKind::kDevice, Role::kBatch});
    bench.add(Copy{kDeviceBuffer, 3, bytes, 0});
    bench.run();
    const Span copy = bench.all("stream 7").front();
    return 2.0 * static_cast<double>(bytes) / static_cast<double>(copy.duration);  // GB/s
  };
  // A T4's bandwidthTest log: 580 GB/s at 2 MB, 241 at 64 MB.
  CHECK(rate_of("t4-1", 2'000'000) == Approx(580).epsilon(0.02));
  CHECK(rate_of("t4-1", 64'000'000) == Approx(241).epsilon(0.03));
  CHECK(rate_of("rtx4090-1", 16'000'000) > 3 * rate_of("rtx4090-1", 64'000'000));
}

TEST_CASE("a pinned copy returns to its host thread at once") {
  Bench bench;
  bench.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 0});
  bench.run();
  const Span call = bench.find("host main", "cudaMemcpyAsync");
  const Span copy = bench.find("stream 7", "Memcpy HtoD (Pinned -> Device)");
  CHECK(call.duration == bench.machine.host.copy_call_ns);
  CHECK(copy.start == call.end());
  const double expected = static_cast<double>(kBig) / bench.machine.pcie.h2d_bytes_per_s * 1e9 +
                          static_cast<double>(bench.machine.pcie.h2d_latency_ns);
  CHECK(static_cast<double>(copy.duration) == Approx(expected).margin(2));
}

TEST_CASE(
    "a pageable copy to the device holds its host thread until it is staged, not until done") {
  Bench bench;
  bench.add(Copy{kPageableBuffer, kDeviceBuffer, kBig, 0});
  bench.run();
  const Span call = bench.find("host main", "cudaMemcpyAsync");
  const Span copy = bench.find("stream 7", "Memcpy HtoD (Pageable -> Device)");
  const int chunks = static_cast<int>(kBig / bench.machine.host.staging_chunk_bytes);
  const Span last_staged = bench.find("staging", "4 MiB", chunks - 1);
  CHECK(call.end() == last_staged.end());
  CHECK(copy.end() > call.end());
  CHECK(bench.find("H2D copy engine", "4 MiB", 0).start == bench.find("staging", "4 MiB").end());
}

TEST_CASE("a pageable copy to the host holds its host thread until every byte is in place") {
  Bench bench;
  bench.add(Copy{kDeviceBuffer, kPageableBuffer, kBig, 0});
  bench.run();
  const Span call = bench.find("host main", "cudaMemcpyAsync");
  const Span copy = bench.find("stream 7", "Memcpy DtoH (Device -> Pageable)");
  CHECK(call.end() > copy.end());
}

TEST_CASE("a pageable copy waits for the earlier work of its stream, a pinned one does not hold") {
  Bench bench;
  bench.add(Launch{0, 0});
  bench.add(Copy{kPageableBuffer, kDeviceBuffer, kBig, 0});
  bench.run();
  const Span kernel = bench.find("stream 7", "kernel");
  const Span wait = bench.find("host main", "waits for the stream");
  CHECK(wait.end() == kernel.end());
  CHECK(bench.find("staging", "4 MiB").start >= kernel.end());

  Bench pinned;
  pinned.add(Launch{0, 0});
  pinned.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 0});
  pinned.run();
  CHECK(pinned.find("host main", "cudaMemcpyAsync").end() <
        pinned.find("stream 7", "kernel").end());
  CHECK(pinned.find("stream 7", "Memcpy").start == pinned.find("stream 7", "kernel").end());
}

TEST_CASE("at most as many chunks are between host and device as there are staging buffers") {
  Bench bench;
  bench.machine.pcie.h2d_bytes_per_s = 1e9;  // slower than the host copies
  bench.add(Copy{kPageableBuffer, kDeviceBuffer, kBig, 0});
  bench.run();
  const int buffers = bench.machine.host.staging_buffers;
  const int chunks = static_cast<int>(kBig / bench.machine.host.staging_chunk_bytes);
  REQUIRE(chunks > buffers);
  for (int i = buffers; i < chunks; ++i)
    CHECK(bench.find("staging", "4 MiB", i).start >=
          bench.find("H2D copy engine", "4 MiB", i - buffers).end());
}

TEST_CASE("copies overlap kernels of another stream only") {
  Bench bench;
  bench.add(Launch{0, 0});
  bench.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 1});
  bench.run();
  CHECK(bench.find("stream 20", "Memcpy").start < bench.find("stream 7", "kernel").end());
}

TEST_CASE("an event holds back the stream that waits for it, and only that one") {
  Bench bench;
  bench.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 1});
  bench.add(RecordEvent{0, 1});
  bench.add(StreamWait{0, 0});
  bench.add(Launch{0, 0});
  bench.run();
  const Span kernel = bench.find("stream 7", "kernel");
  CHECK(kernel.start == bench.find("stream 20", "Memcpy").end());
  CHECK(kernel.cause == trace::Cause::kEvent);
}

TEST_CASE("waiting for a stream that only waits for an event waits for the event's work") {
  Bench bench;
  bench.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 1});
  bench.add(RecordEvent{0, 1});
  bench.add(StreamWait{0, 0});
  bench.add(StreamSync{0});
  bench.run();
  CHECK(bench.find("host main", "cudaStreamSynchronize").end() >
        bench.find("stream 20", "Memcpy").end());
}

TEST_CASE("the legacy default stream and a blocking stream wait for one another") {
  for (const bool blocking : {true, false}) {
    Bench bench;
    bench.program.streams[1].kind = blocking ? StreamKind::kBlocking : StreamKind::kNonBlocking;
    bench.add(Launch{0, 1});
    bench.add(Launch{0, 0});
    bench.add(Launch{0, 1});
    bench.run();
    const Span first = bench.find("stream 20", "kernel", 0);
    const Span middle = bench.find("stream 7", "kernel");
    const Span last = bench.find("stream 20", "kernel", 1);
    CHECK((middle.start >= first.end()) == blocking);
    CHECK((last.start >= middle.end()) == blocking);
  }
}

TEST_CASE("copies in both directions run at once on two engines and in turn on one") {
  for (const int engines : {1, 2}) {
    Bench bench;
    bench.machine.gpu.copy_engines = engines;
    bench.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 0});
    bench.add(Copy{kDeviceBuffer, kPinnedBuffer, kBig, 1});
    bench.run();
    const Span up = bench.find("stream 7", "Memcpy HtoD");
    const Span down = bench.find("stream 20", "Memcpy DtoH");
    CHECK((down.start >= up.end()) == (engines == 1));
  }
}

TEST_CASE("copies in both directions at once share the link") {
  Bench bench;
  bench.add(Copy{kPinnedBuffer, kDeviceBuffer, kBig, 0});
  bench.add(Copy{kDeviceBuffer, kPinnedBuffer, kBig, 1});
  bench.run();
  const Span up = bench.find("stream 7", "Memcpy HtoD");
  const Span down = bench.find("stream 20", "Memcpy DtoH");
  const double bytes = 2.0 * static_cast<double>(kBig);
  const auto both = static_cast<double>(std::max(up.end(), down.end()) - up.start);
  CHECK(both >= bytes / bench.machine.pcie.both_bytes_per_s * 1e9);
  CHECK(both < 1.1 * bytes / bench.machine.pcie.both_bytes_per_s * 1e9);
}

TEST_CASE("a kernel that fills the GPU leaves the next one what its last blocks leave") {
  const auto run = [](Index second) {
    auto bench = std::make_unique<Bench>();
    Operation& op = bench->program.operations[0];
    op.kind = OperationKind::kElementwise;
    op.flops = 1e12;
    op.blocks = 100000;
    bench->add(Launch{0, 0});
    bench->add(Launch{0, second});
    bench->run();
    return bench;
  };
  const auto in_turn = run(0), at_once = run(1);
  const Nanos alone = in_turn->find("stream 7", "kernel").duration;
  const Span first = at_once->find("stream 7", "kernel"),
             next = at_once->find("stream 20", "kernel");
  CHECK(first.duration == Approx(alone).epsilon(0.01));
  CHECK(next.start > first.start + alone * 9 / 10);
  CHECK(next.start <= first.end());
  CHECK(next.cause == trace::Cause::kRoom);
  CHECK(at_once->trace.end() <= in_turn->trace.end());
}

TEST_CASE("blocks of a stream of higher priority go first, once those that run are done") {
  Bench bench;
  bench.program.streams[1].priority = -1;
  Operation& op = bench.program.operations[0];
  op.kind = OperationKind::kElementwise;
  op.flops = 1e12;
  op.blocks = 100000;
  bench.add(Launch{0, 0});
  bench.add(Launch{0, 1});
  bench.run();
  const Span low = bench.find("stream 7", "kernel"), high = bench.find("stream 20", "kernel");
  const auto alone = static_cast<Nanos>(1e12 / bench.machine.gpu.fp32_flops_per_s * 1e9);
  CHECK(high.duration == Approx(alone).epsilon(0.01));
  CHECK(high.start < low.start + alone / 10);
  CHECK(low.end() > high.end());
  CHECK(low.duration == Approx(2 * alone).epsilon(0.01));
}

TEST_CASE("a kernel of a given length keeps it while its blocks find free SMs") {
  const auto length_of = [](double share_of_gpu) {
    Bench bench;
    Operation& op = bench.program.operations[0];
    op.blocks = static_cast<std::int64_t>(share_of_gpu * bench.machine.gpu.sm_count);
    bench.add(Launch{0, 0});
    bench.add(Launch{0, 1});
    bench.run();
    return static_cast<double>(bench.find("stream 20", "kernel").duration);
  };
  const auto alone = static_cast<double>(1 * kMillisecond);
  CHECK(length_of(0.25) == alone);
  CHECK(length_of(0.5) == alone);
  // Some SMs have a block of each, and those take twice as long.
  CHECK(length_of(0.75) == Approx(2 * alone).epsilon(0.02));
  CHECK(length_of(1) == Approx(2 * alone).epsilon(0.02));
}

TEST_CASE("a program whose threads wait for each other is refused with the lines they wait in") {
  Bench bench;
  bench.program.queues.push_back({"batches", 1});
  bench.program.listing.lines.emplace_back("for x, y in loader:");
  bench.program.threads[0].commands.push_back({Take{0, 3}, kNoIndex, 1, Phase::kNone});
  sim::Simulation simulation(bench.program, bench.machine, "native", bench.trace);
  CHECK_THROWS_WITH(
      simulation.finish(),
      Catch::Contains("host main (line 1: for x, y in loader:) waits for an item of the "
                      "queue 'batches', which nothing fills any more"));
}

TEST_CASE("a program with a wrong index is refused before it runs") {
  Bench bench;
  bench.add(Launch{9, 0});
  CHECK_THROWS_WITH(sim::Simulation(bench.program, bench.machine, "native", bench.trace),
                    Catch::Contains("command 0 of thread host main names an unknown operation"));
}

TEST_CASE("the host profile decides what an operator costs") {
  for (const auto& [profile, cost] :
       {std::pair<const char*, Nanos>{"native", 0},
        std::pair<const char*, Nanos>{"pytorch-eager",
                                      machine::load_machine("h200-1").host.eager_operator_ns}}) {
    Bench bench;
    bench.add(Launch{0, 0});
    sim::Simulation simulation(bench.program, bench.machine, profile, bench.trace);
    simulation.finish();
    const Span kernel = bench.find("stream 7", "kernel");
    CHECK(kernel.start ==
          cost + bench.machine.host.launch_call_ns + bench.machine.host.launch_latency_ns);
  }
}
