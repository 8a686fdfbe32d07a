// What must hold of a program that is carried out on a device, whatever the device does in which
// order.

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "analysis/metrics/metrics.h"
#include "analysis/runs/run.h"
#include "cuda/emulated_device.h"
#include "cuda/execution.h"
#include "support/config.h"
#include "support/little_room.h"
#include "support/random_program.h"
#include "support/sanitized.h"
#include "support/skip.h"
#include "train/build.h"

using namespace trainscope;
using test::config_of;
using trace::Category;
using trace::LaneKind;
using trace::Span;

namespace {

struct Carried {
  machine::Machine machine;
  program::Program program;
  std::shared_ptr<trace::Trace> trace = std::make_shared<trace::Trace>(
      trace::Origin{trace::OriginKind::kMeasured, "Emulated GPU", "", 0});
  std::optional<cuda::Failure> failure;
  std::uint64_t commands = 0;
  std::int64_t calls = 0;
  std::vector<int> emptied;  // GPUs, of which the cache was
};

void carry_out(Carried& run, const test::EmulatedOptions& options) {
  test::EmulatedDevice device(options);
  cuda::Execution execution(run.program, run.machine, device, *run.trace);
  run.failure = execution.run();
  run.commands = execution.commands_done();
  run.calls = device.calls();
  run.emptied = device.emptied();
}

std::unique_ptr<Carried> carry_out(const std::vector<std::string>& settings,
                                   const test::EmulatedOptions& options = {}) {
  auto run = std::make_unique<Carried>();
  const program::Config config = config_of(settings);
  run->machine = machine::load_machine(config.word("machine"));
  run->program = train::build_program(config, run->machine);
  carry_out(*run, options);
  return run;
}

std::unique_ptr<Carried> carry_out_random(std::uint32_t seed) {
  auto run = std::make_unique<Carried>();
  run->machine = machine::load_machine("h200-1");
  run->program = test::random_program(seed);
  test::EmulatedOptions options;
  options.seed = seed;
  carry_out(*run, options);
  return run;
}

std::vector<Span> spans_of(const Carried& run, LaneKind kind) {
  std::vector<Span> spans;
  for (std::uint32_t i = 0; i < run.trace->spans().size(); ++i)
    if (run.trace->lanes()[run.trace->spans()[i].lane].kind == kind)
      spans.push_back(run.trace->spans()[i]);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.lane != b.lane ? a.lane < b.lane : a.start < b.start;
  });
  return spans;
}

std::size_t count_of(const Carried& run, Category category, LaneKind kind) {
  const auto spans = spans_of(run, kind);
  return static_cast<std::size_t>(std::count_if(
      spans.begin(), spans.end(), [&](const Span& span) { return span.category == category; }));
}

double metric(const Carried& run, const std::string& name) {
  analysis::Run whole;
  whole.machine = std::make_shared<machine::Machine>(run.machine);
  whole.program = std::make_shared<program::Program>(run.program);
  whole.trace = run.trace;
  analysis::analyse(whole);
  const auto value = analysis::value_of(whole.metrics, name);
  REQUIRE(value);
  return *value;
}

std::uint64_t commands_of(const program::Program& program) {
  std::uint64_t commands = 0;
  for (const program::Thread& thread : program.threads) commands += thread.commands.size();
  return commands;
}

// Fewer where the emulator is watched by a sanitizer, and each takes seconds.
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint32_t kPrograms = 30;
#else
constexpr std::uint32_t kPrograms = 150;
#endif

}  // namespace

TEST_CASE(
    "whatever the order, streams and engines do one thing at a time, after it was asked for") {
  for (std::uint32_t seed = 0; seed < kPrograms; ++seed) {
    INFO("seed " << seed);
    const auto run = carry_out_random(seed);
    REQUIRE_FALSE(run->failure);
    REQUIRE(run->commands == commands_of(run->program));
    for (const LaneKind kind : {LaneKind::kStream, LaneKind::kCopyEngine}) {
      const auto spans = spans_of(*run, kind);
      for (std::size_t i = 1; i < spans.size(); ++i)
        REQUIRE((spans[i].lane != spans[i - 1].lane || spans[i].start >= spans[i - 1].end()));
    }
    const trace::Trace& trace = *run->trace;
    REQUIRE(trace.flows().size() == spans_of(*run, LaneKind::kStream).size());
    for (std::uint32_t i = 0; i < trace.flows().size(); ++i) {
      const trace::Flow flow = trace.flows()[i];
      REQUIRE(trace.spans()[flow.from].start < trace.spans()[flow.to].start);
      REQUIRE(trace.spans()[flow.from].correlation == trace.spans()[flow.to].correlation);
    }
    for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
      const Span& span = trace.spans()[i];
      REQUIRE(span.duration >= 0);
      if (span.cause_span == trace::kNone || span.cause != trace::Cause::kStream) continue;
      REQUIRE(trace.spans()[span.cause_span].end() <= span.start);
    }
  }
}

TEST_CASE("a copy is drawn on its stream and its engine, with its kinds of memory and its call") {
  for (const std::string memory : {"pinned", "pageable"}) {
    const auto run = carry_out({"workload=copy", "copy.memory=" + memory, "copy.count=3",
                                "copy.bytes=1000000", "transfer.non_blocking=true"});
    REQUIRE_FALSE(run->failure);
    CHECK(count_of(*run, Category::kCopyH2D, LaneKind::kStream) == 3);
    CHECK(count_of(*run, Category::kCopyH2D, LaneKind::kCopyEngine) == 3);
    CHECK(count_of(*run, Category::kStaging, LaneKind::kStaging) == (memory == "pageable" ? 3 : 0));
    const Span copy = spans_of(*run, LaneKind::kStream).front();
    CHECK(copy.correlation != 0);
    const auto& detail = std::get<trace::CopyDetail>(*run->trace->detail(copy));
    CHECK(detail.bytes == 1000000);
    CHECK(detail.from == (memory == "pinned" ? trace::Memory::kPinned : trace::Memory::kPageable));
    CHECK(detail.to == trace::Memory::kDevice);
    CHECK(metric(*run, "time.h2d") > 0);
    CHECK(metric(*run, "bandwidth.h2d") > 0);
  }
}

TEST_CASE("a tensor that is pinned once is locked by the device's library, and copied from there") {
  const auto run = carry_out({"workload=copy", "copy.memory=pinned", "copy.pin=once",
                              "copy.count=3", "copy.bytes=1000000"});
  REQUIRE_FALSE(run->failure);
  std::vector<std::string> names;
  for (const Span& span : spans_of(*run, LaneKind::kHostThread))
    names.push_back(run->trace->name(span));
  CHECK(std::ranges::count(names, "cudaHostAlloc") == 1);
  CHECK(std::ranges::count(names, "pin x") == 1);
  for (const Span& copy : spans_of(*run, LaneKind::kStream))
    CHECK(std::get<trace::CopyDetail>(*run->trace->detail(copy)).from == trace::Memory::kPinned);
}

TEST_CASE("a round trip in chunks is carried out on its streams, in either order of issue") {
  for (const std::string order : {"depth_first", "breadth_first"})
    for (const std::string flops : {"1", "256"}) {
      CAPTURE(order, flops);
      const auto run =
          carry_out({"workload=copy", "copy.direction=round_trip", "copy.memory=pinned",
                     "copy.bytes=400000", "copy.chunks=4", "copy.streams=3", "copy.flops=" + flops,
                     "copy.order=" + order, "transfer.non_blocking=true", "steps=2"});
      REQUIRE_FALSE(run->failure);
      CHECK(count_of(*run, Category::kCopyH2D, LaneKind::kStream) == 8);
      CHECK(count_of(*run, Category::kKernel, LaneKind::kStream) == 8);
      CHECK(count_of(*run, Category::kCopyD2H, LaneKind::kStream) == 8);
      std::set<std::string> streams;
      for (const Span& span : spans_of(*run, LaneKind::kStream))
        streams.insert(run->trace->lanes()[span.lane].name);
      CHECK(streams == std::set<std::string>{"stream 13", "stream 14", "stream 15"});
    }
}

TEST_CASE("kernels appear one by one, also those that a graph launches") {
  for (const std::string graph : {"false", "true"}) {
    const auto run = carry_out({"workload=launch", "launch.count=10", "steps=3",
                                "launch.graph=" + graph, "launch.kernel_ns=5000"});
    REQUIRE_FALSE(run->failure);
    CHECK(count_of(*run, Category::kKernel, LaneKind::kStream) == 30);
    std::set<std::uint32_t> calls;
    for (const Span& span : spans_of(*run, LaneKind::kStream)) {
      calls.insert(span.correlation);
      CHECK(span.duration == 5000);
    }
    CHECK(calls.size() == (graph == "true" ? 3 : 30));
    CHECK(count_of(*run, Category::kAnnotation, LaneKind::kSteps) == 3);
  }
}

TEST_CASE("a kernel of any shape and a matrix product are launched with what they are") {
  const auto kernel = carry_out(
      {"workload=kernel", "kernel.grid=8", "kernel.block=64", "kernel.count=2", "steps=2"});
  REQUIRE_FALSE(kernel->failure);
  const auto spans = spans_of(*kernel, LaneKind::kStream);
  REQUIRE(spans.size() == 4);
  const auto& detail = std::get<trace::KernelDetail>(*kernel->trace->detail(spans.front()));
  CHECK(detail.grid[0] == 8);
  CHECK(detail.block[0] == 64);
  const auto gemm = carry_out({"workload=gemm", "gemm.m=32", "gemm.n=48", "gemm.k=16", "steps=2"});
  REQUIRE_FALSE(gemm->failure);
  CHECK(gemm->trace->name(spans_of(*gemm, LaneKind::kStream).front()) == "gemm");
}

TEST_CASE("what the allocator has cached goes back to the driver where a script says so") {
  const std::vector<std::string> training{"workload=train", "model.name=mlp", "steps=3",
                                          "data.name=digits", "batch_size=64"};
  const auto emptied = [&](const std::string& value) {
    std::vector<std::string> settings = training;
    settings.push_back("loop.empty_cache=" + value);
    const auto run = carry_out(settings);
    REQUIRE_FALSE(run->failure);
    const auto calls = spans_of(*run, LaneKind::kHostThread);
    const auto trims = std::ranges::count_if(
        calls, [&](const Span& call) { return run->trace->name(call) == "cudaMemPoolTrimTo"; });
    CHECK(trims == static_cast<std::ptrdiff_t>(run->emptied.size()));
    return run->emptied;
  };
  CHECK(emptied("true") == std::vector<int>{0, 0, 0});
  CHECK(emptied("false").empty());
}

TEST_CASE("a thread that waits for the device is held for what it waited for") {
  const auto run = carry_out({"workload=copy", "copy.memory=pinned", "copy.count=2",
                              "copy.bytes=50000000", "transfer.non_blocking=false"});
  REQUIRE_FALSE(run->failure);
  CHECK(count_of(*run, Category::kHeld, LaneKind::kHostThread) >= 2);
}

TEST_CASE("a device that is lost ends the run with one sentence and keeps what was measured") {
  const std::vector<std::string> settings{"workload=launch", "launch.count=20", "steps=2"};
  const std::int64_t all = carry_out(settings)->calls;
  std::size_t most = 0;
  for (std::int64_t call = 0; call < all; ++call) {
    test::EmulatedOptions options;
    options.lost_at = call;
    const auto run = carry_out(settings, options);
    REQUIRE(run->failure);
    CHECK(run->failure->sentence == "the GPU was lost: an emulated illegal address");
    most = std::max(most, spans_of(*run, LaneKind::kStream).size());
  }
  CHECK(most > 20);
}

TEST_CASE("a step that a lost device cut off is none, and its marks are counted") {
  const bool graph = GENERATE(false, true);
  constexpr std::size_t kLaunches = 7;
  const std::vector<std::string> settings{"workload=launch", "launch.count=7", "steps=4",
                                          graph ? "launch.graph=true" : "launch.graph=false"};
  const std::int64_t all = carry_out(settings)->calls;
  std::size_t most = 0;
  std::int64_t unmarked = 0;
  for (std::int64_t call = 0; call < all; ++call) {
    test::EmulatedOptions options;
    options.lost_at = call;
    options.seed = static_cast<std::uint32_t>(call);
    const auto run = carry_out(settings, options);
    INFO("lost at call " << call);
    const std::size_t steps = analysis::step_windows(*run->trace).size();
    CHECK(steps * kLaunches <= spans_of(*run, LaneKind::kStream).size());
    most = std::max(most, steps);
    for (std::uint32_t i = 0; i < run->trace->dropped().size(); ++i)
      if (run->trace->dropped()[i].reason.starts_with("marks of what"))
        unmarked += run->trace->dropped()[i].count;
  }
  CHECK(most >= 2);
  CHECK(unmarked > 0);
}

TEST_CASE("a device without room ends the run with one sentence") {
  test::EmulatedOptions options;
  options.memory_bytes = 1000;
  const auto run = carry_out({"workload=copy", "copy.bytes=4000"}, options);
  REQUIRE(run->failure);
  CHECK(run->failure->sentence.find("no room for 4000 bytes") != std::string::npos);
  CHECK(run->failure->line == 0);
}

TEST_CASE("host threads that wait for each other for ever are found out") {
  program::Program program;
  program.streams.push_back({"stream 7", 7, program::StreamKind::kLegacyDefault, 0, 0});
  program.queues = {{"a", 1}, {"b", 1}};
  for (const program::Index from : {0U, 1U}) {
    program.threads.push_back({"host", program::ThreadRole::kMain, 0, {}});
    program.threads.back().commands.push_back({program::Pop{from}});
    program.threads.back().commands.push_back({program::Push{1 - from, 0}});
  }
  Carried run;
  run.machine = machine::load_machine("h200-1");
  run.program = program;
  carry_out(run, {});
  REQUIRE(run.failure);
  CHECK(run.failure->sentence.find("every host thread waits for another") != std::string::npos);
}

TEST_CASE("what the tracer lost, and the executor's own copies, are counted in the trace") {
  test::EmulatedOptions options;
  options.dropped = 2;
  const auto run = carry_out({"workload=launch", "launch.count=5", "steps=2"}, options);
  REQUIRE_FALSE(run->failure);
  CHECK(count_of(*run, Category::kKernel, LaneKind::kStream) < 10);
  CHECK(run->trace->dropped_events() > 0);
}

TEST_CASE("what the executor cannot carry out is refused in one sentence that says what to do") {
  const auto refuses = [](const std::vector<std::string>& settings, const std::string& word) {
    try {
      carry_out(settings);
      FAIL("carried out");
    } catch (const MissingError& error) {
      CHECK(std::string(error.what()).find(word) != std::string::npos);
    }
  };
  refuses({"device=cpu"}, "on the CPU");
  refuses({"workload=kernel", "kernel.type=fp64"}, "kernel.type = fp32");
}

#ifdef __linux__
TEST_CASE(
    "a run with more host threads than the system starts ends, and says which knobs need few") {
  if (test::kSanitized) TRAINSCOPE_SKIP("a sanitizer needs far more memory");
  CHECK(test::holds_in_child([] {
    Carried run;
    const program::Config config =
        config_of({"data.name=digits", "loader.num_workers=60", "steps=2", "loop.evaluate=false"});
    run.machine = machine::load_machine(config.word("machine"));
    run.program = train::build_program(config, run.machine);
    test::EmulatedDevice device(test::EmulatedOptions{});
    cuda::Execution execution(run.program, run.machine, device, *run.trace);
    test::leave_room(rlim_t{128} << 20);
    const auto failure = execution.run();
    return failure && failure->sentence.find("host threads of the run") != std::string::npos;
  }));
}
#endif
