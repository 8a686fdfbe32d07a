// Device memory on host time: what it costs, what the trace keeps, and what happens when it ends.
#include <catch2/catch.hpp>
#include <string>

#include "sim/out_of_memory.h"
#include "support/bench_program.h"

using namespace trainscope;
using namespace trainscope::program;
using test::BenchProgram;
using trace::AllocatorAction;
using trace::Span;

namespace {

constexpr std::int64_t kMi = 1 << 20;

// A bench with more buffers on the device, and its run kept after its end.
struct Bench : BenchProgram {
  Index buffer(const char* name, std::int64_t bytes, Role role = Role::kActivation) {
    program.buffers.push_back({name, bytes, MemoryKind::kDevice, role});
    return static_cast<Index>(program.buffers.size() - 1);
  }
  // The bench's own buffer is there from the start: 64 MiB of the batch.
  std::optional<sim::OutOfMemory> carry_out() {
    sim::Simulation simulation(program, machine, "native", trace);
    simulation.finish();
    return simulation.out_of_memory();
  }
  std::vector<std::pair<Nanos, double>> counter(const std::string& name) const {
    std::vector<std::pair<Nanos, double>> values;
    for (std::uint32_t i = 0; i < trace.samples().size(); ++i)
      if (trace.lanes()[trace.samples()[i].lane].name == name)
        values.emplace_back(trace.samples()[i].time, trace.samples()[i].value / double{kMi});
    return values;
  }
  std::size_t actions(AllocatorAction action) const {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < trace.allocator_events().size(); ++i)
      count += trace.allocator_events()[i].action == action;
    return count;
  }
};

}  // namespace

TEST_CASE("memory is counted on host time: allocated, reserved, and allocated by role") {
  Bench bench;
  const Index a = bench.buffer("a", 30 * kMi), b = bench.buffer("b", 12 * kMi, Role::kGradient);
  bench.add(Alloc{a, 0});
  bench.add(Alloc{b, 0});
  bench.add(HostWork{1000, false});
  bench.add(Free{a});
  CHECK_FALSE(bench.carry_out());
  const Nanos call = bench.machine.host.malloc_call_ns, end = 2 * call + 1000;
  using Values = std::vector<std::pair<Nanos, double>>;
  CHECK(bench.counter("allocated memory") == Values{{0, 64}, {0, 94}, {call, 106}, {end, 76}});
  CHECK(bench.counter("reserved memory") == Values{{0, 64}, {0, 94}, {call, 106}});
  CHECK(bench.counter("allocated: batch") == Values{{0, 64}});
  CHECK(bench.counter("allocated: activations") == Values{{0, 30}, {end, 0}});
  CHECK(bench.counter("allocated: gradients") == Values{{call, 12}});
  CHECK(bench.counter("allocated: parameters").empty());
}

TEST_CASE("cudaMalloc is called and costs time only when nothing that is cached fits") {
  Bench bench;
  const Index a = bench.buffer("a", 30 * kMi), b = bench.buffer("b", 29 * kMi);
  bench.add(Alloc{a, 0});
  bench.add(Free{a});
  bench.add(Alloc{b, 0});
  bench.add(Free{b});
  bench.add(Alloc{a, 0});
  bench.add(HostWork{1, false});
  bench.carry_out();
  REQUIRE(bench.all("host main", "cudaMalloc").size() == 1);
  const Span call = bench.find("host main", "cudaMalloc");
  CHECK(call.duration == bench.machine.host.malloc_call_ns);
  CHECK(call.category == trace::Category::kHostApi);
  CHECK(bench.find("host main", "work").start == call.end());
  CHECK(bench.all("host main", "cudaFree").empty());
}

TEST_CASE("emptying the cache waits for the device and frees what is cached, a call each") {
  Bench bench;
  const Index a = bench.buffer("a", 30 * kMi), b = bench.buffer("b", 40 * kMi);
  bench.add(EmptyCache{});  // nothing is cached yet
  bench.add(Alloc{a, 0});
  bench.add(Alloc{b, 0});
  bench.add(Launch{0, 0});
  bench.add(Free{a});
  bench.add(EmptyCache{});
  bench.add(Alloc{a, 0});
  bench.carry_out();
  REQUIRE(bench.all("host main", "cudaFree").size() == 1);
  CHECK(bench.all("host main", "cudaMalloc").size() == 3);
  CHECK(bench.counter("reserved memory").back().second == 64 + 30 + 40);
}

TEST_CASE("memory that another stream was recorded for comes back only once its work is done") {
  for (const bool waits : {false, true}) {
    Bench bench;
    const Index a = bench.buffer("a", 30 * kMi), b = bench.buffer("b", 30 * kMi);
    bench.add(Alloc{a, 0});
    bench.add(RecordStream{a, 1});
    bench.add(Launch{0, 1});
    bench.add(Free{a});
    if (waits) bench.add(DeviceSync{});
    bench.add(Alloc{b, 0});
    bench.carry_out();
    CHECK(bench.all("host main", "cudaEventRecord").size() == 1);
    CHECK(bench.all("host main", "cudaMalloc").size() == (waits ? 1 : 2));
    CHECK(bench.counter("reserved memory").back().second == (waits ? 94 : 124));
  }
}

TEST_CASE("the host that runs ahead needs more memory: a free takes effect when it is called") {
  // pytorch#113282: the same loop, with and without waiting for the copy stream's work.
  const auto peak = [](bool waits) {
    Bench bench;
    std::vector<Index> batches;
    for (int i = 0; i < 4; ++i) batches.push_back(bench.buffer("batch", 20 * kMi, Role::kBatch));
    for (const Index batch : batches) {
      bench.add(Alloc{batch, 1});
      bench.add(RecordStream{batch, 0});
      bench.add(Launch{0, 0});
      if (waits) bench.add(StreamSync{0});
      bench.add(Free{batch});
    }
    bench.carry_out();
    return bench.counter("reserved memory").back().second;
  };
  CHECK(peak(true) == 64 + 20);
  CHECK(peak(false) == 64 + 4 * 20);
}

TEST_CASE("without room, the device is waited for, what is cached goes back, and it is retried") {
  Bench bench;
  bench.machine.gpu.memory_bytes = 164 * kMi;
  const Index a = bench.buffer("a", 40 * kMi), b = bench.buffer("b", 30 * kMi);
  const Index c = bench.buffer("c", 80 * kMi);
  bench.add(Alloc{a, 0});
  bench.add(Alloc{b, 0});
  bench.add(Launch{0, 0});
  bench.add(Free{a});
  bench.add(Free{b});
  bench.add(Alloc{c, 0});
  bench.add(HostWork{1, false});
  CHECK_FALSE(bench.carry_out());
  const machine::Host& host = bench.machine.host;
  const Span kernel = bench.find("stream 7", "kernel");
  const auto mallocs = bench.all("host main", "cudaMalloc");
  const auto frees = bench.all("host main", "cudaFree");
  REQUIRE(mallocs.size() == 4);  // of a, b, c in vain, c
  REQUIRE(frees.size() == 2);
  CHECK(frees[0].start == mallocs[2].end());
  CHECK(frees[0].category == trace::Category::kHeld);
  CHECK(frees[0].cause == trace::Cause::kDevice);
  CHECK(frees[0].end() == kernel.end() + host.wake_ns + host.free_call_ns);
  CHECK(frees[1].category == trace::Category::kHostApi);
  CHECK(frees[1].duration == host.free_call_ns);
  CHECK(mallocs[3].start == frees[1].end());
  CHECK(bench.find("host main", "work").start == mallocs[3].end());
  CHECK(bench.actions(AllocatorAction::kRetry) == 1);
  CHECK(bench.actions(AllocatorAction::kSegmentFree) == 2);
  CHECK(bench.counter("reserved memory").back().second == 144);
}

TEST_CASE("a full device ends the run, and says what asked for how much and who has it") {
  Bench bench;
  bench.machine.gpu.memory_bytes = 100 * kMi;
  bench.program.listing.lines = {"x = model(x)", "y = model(x)"};
  const Index a = bench.buffer("a", 30 * kMi, Role::kParameter), b = bench.buffer("b", 7 * kMi);
  const auto other = bench.add_thread("loader worker 0", ThreadRole::kLoaderWorker);
  for (int i = 0; i < 100; ++i) bench.add(HostWork{100 * kMicrosecond, true}, other);
  bench.add(Alloc{a, 0}, 0, 1);
  bench.add(Launch{0, 0}, 0, 1);
  bench.add(Alloc{b, 0}, 0, 2);
  bench.add(Launch{0, 0}, 0, 2);
  const auto why = bench.carry_out();
  REQUIRE(why);
  CHECK(why->buffer == "b");
  CHECK(why->line == 2);
  CHECK(why->requested == 7 * kMi);
  CHECK(why->segment == 20 * kMi);
  CHECK(why->allocated == 94 * kMi);
  CHECK(why->reserved == 94 * kMi);
  CHECK(why->capacity == 100 * kMi);
  REQUIRE(why->holders.size() == 2);
  CHECK(why->holders[1].name == "a");
  CHECK(sim::sentence(*why) ==
        "NVIDIA H200 SXM is out of memory at line 2: b (activations) asks for 7 MiB, and of the "
        "100 MiB that there are, the allocator holds 94 MiB, 94 MiB of them in tensors; the "
        "largest are device (batch, 64 MiB), a (parameters, 30 MiB); what is shown ends there: ask "
        "for less, or choose a machine with more memory");
  // The kernel that was launched before is carried out, nothing is begun afterwards.
  CHECK(bench.all("stream 7", "kernel").size() == 1);
  const Span mark = bench.find("host main", "out of memory: b");
  CHECK(mark.start == why->time);
  CHECK(mark.start == bench.all("host main", "cudaMalloc").back().end());
  for (const Span& load : bench.all("loader worker 0")) CHECK(load.start <= why->time);
  CHECK(bench.all("loader worker 0").size() < 100);
  CHECK(bench.actions(AllocatorAction::kOutOfMemory) == 1);
}

TEST_CASE("CUDA's context is not the allocator's to give") {
  const auto why_of = [](std::int64_t context) {
    Bench bench;
    bench.machine.gpu.memory_bytes = 140 * kMi;
    bench.machine.host.context_bytes = context;
    bench.add(Alloc{bench.buffer("a", 40 * kMi, Role::kParameter), 0});
    bench.add(Launch{0, 0});
    return bench.carry_out();
  };
  CHECK_FALSE(why_of(0));
  CHECK_FALSE(why_of(36 * kMi));
  const auto why = why_of(40 * kMi);
  REQUIRE(why);
  CHECK(why->capacity == 100 * kMi);
  CHECK_THAT(sim::sentence(*why), Catch::Contains("of the 100 MiB that CUDA's context of 40 MiB "
                                                  "leaves, the allocator holds 64 MiB"));
}

TEST_CASE("what does not fit from the start ends the run before it begins") {
  Bench bench;
  bench.machine.gpu.memory_bytes = 32 * kMi;
  bench.add(Launch{0, 0});
  const auto why = bench.carry_out();
  REQUIRE(why);
  CHECK(why->buffer == "device");
  CHECK(why->holders.empty());
  CHECK(bench.trace.spans().empty());
  CHECK(sim::sentence(*why) ==
        "NVIDIA H200 SXM is out of memory: device (batch) asks for 64 MiB, more than the 32 MiB "
        "that there are; what is shown ends there: ask for less, or choose a machine with more "
        "memory");
  bench.machine.host.context_bytes = 10 * kMi;
  CHECK_THAT(sim::sentence(*bench.carry_out()),
             Catch::Contains("more than the 22 MiB that CUDA's context of 10 MiB leaves"));
}

TEST_CASE("what is allocated twice, or freed and not allocated, is refused by name") {
  Bench twice, unallocated, recorded;
  const Index a = twice.buffer("a", kMi);
  twice.add(Alloc{a, 0});
  twice.add(Alloc{a, 0});
  CHECK_THROWS_WITH(twice.carry_out(), "the program allocates a twice");
  const Index b = unallocated.buffer("b", kMi);
  unallocated.add(Free{b});
  unallocated.add(Alloc{b, 0});
  CHECK_THROWS_WITH(unallocated.carry_out(), "the program frees b, which is not allocated");
  const Index c = recorded.buffer("c", kMi);
  recorded.add(RecordStream{c, 1});
  recorded.add(Alloc{c, 0});
  CHECK_THROWS_WITH(recorded.carry_out(),
                    "the program records a stream for c, which is not allocated");
}
