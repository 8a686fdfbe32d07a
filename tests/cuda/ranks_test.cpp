// Runs of several ranks on a device that has fewer GPUs: every rank's GPU is a virtual one.

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "analysis/runs/measured_run.h"
#include "cuda/emulated_device.h"
#include "cuda/execution.h"
#include "host/initial_values.h"
#include "support/config.h"
#include "support/metric_value.h"
#include "train/build.h"
#include "train/parallel/ranks.h"

using namespace trainscope;
using Catch::Matchers::Contains;
using test::value;
using trace::Category;
using trace::LaneKind;
using trace::Span;

namespace {

analysis::Run measured(const std::vector<std::string>& settings,
                       const test::EmulatedOptions& options = {}) {
  test::EmulatedDevice device(options);
  return analysis::measured_run("A", test::config_of(settings), device);
}

std::vector<Span> spans_of(const trace::Trace& trace, LaneKind kind, Category category) {
  std::vector<Span> spans;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
    const Span& span = trace.spans()[i];
    if (trace.lanes()[span.lane].kind == kind && span.category == category) spans.push_back(span);
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start < b.start; });
  return spans;
}

// On every lane of a stream one thing at a time.
void check_lanes(const trace::Trace& trace) {
  std::map<trace::LaneId, std::vector<Span>> lanes;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
    const Span& span = trace.spans()[i];
    REQUIRE(span.duration >= 0);
    if (trace.lanes()[span.lane].kind == LaneKind::kStream) lanes[span.lane].push_back(span);
  }
  REQUIRE(!lanes.empty());
  for (auto& [lane, spans] : lanes) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    for (std::size_t i = 1; i < spans.size(); ++i) {
      INFO(trace.name(spans[i - 1]) << " and " << trace.name(spans[i]));
      REQUIRE(spans[i].start >= spans[i - 1].end());
    }
  }
}

constexpr std::uint16_t kLine = 5;

// Ranks on threads of their own, each with a row of all-reduces, `others` of them with as many.
program::Program ranks_that_sum(int ranks, int others) {
  program::Program program;
  for (int line = 0; line < kLine; ++line) program.listing.add("sum()");
  program.communicators.push_back({"default process group", ranks, {}, ranks});
  for (int rank = 0; rank < ranks; ++rank) {
    program.streams.push_back({"stream 7", 7, program::StreamKind::kNonBlocking, 0, rank, rank});
    program.threads.push_back({"host", program::ThreadRole::kMain, rank, {}});
    program.threads.back().device = rank;
    for (int i = 0; i < (rank + 1 < ranks ? 2 : others); ++i) {
      program::Collective one;
      one.bytes = 400;
      one.stream = static_cast<program::Index>(rank);
      one.sequence = i;
      program.threads.back().commands.push_back({one, program::kNoIndex, kLine});
    }
  }
  return program;
}

struct Carried {
  trace::Trace trace{trace::Origin{trace::OriginKind::kMeasured, "Emulated GPU", "", 0}};
  std::optional<cuda::Failure> failure;
};

std::unique_ptr<Carried> carry_out(const program::Program& program,
                                   Nanos time_out = cuda::Meetings::kTimeOut,
                                   const test::EmulatedOptions& options = {}) {
  auto run = std::make_unique<Carried>();
  const machine::Machine machine = machine::load_machine("h200-8");
  test::EmulatedDevice device(options);
  cuda::Execution execution(program, machine, device, run->trace, time_out);
  run->failure = execution.run();
  return run;
}

}  // namespace

TEST_CASE("a row of collectives is carried out on one device, a span for each rank") {
  for (const std::string profile : {"native", "pytorch-eager"})
    for (const std::string op :
         {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"}) {
      INFO(profile << ", " << op);
      const analysis::Run run = measured(
          {"workload=collective", "machine=h200-8", "collective.ranks=4", "collective.op=" + op,
           "collective.bytes=4000", "collective.count=2", "steps=3", "host.profile=" + profile});
      REQUIRE_FALSE(run.ending);
      CHECK(spans_of(*run.trace, LaneKind::kStream, Category::kCollective).size() == 4 * 2 * 3);
      check_lanes(*run.trace);
      std::set<std::int32_t> gpus;
      for (std::uint32_t i = 0; i < run.trace->lanes().size(); ++i)
        if (run.trace->lanes()[i].kind == LaneKind::kStream)
          gpus.insert(run.trace->lanes()[i].device);
      CHECK(gpus == std::set<std::int32_t>{0, 1, 2, 3});
      CHECK(value(run, "bandwidth.algorithm") > 0);
      CHECK(value(run, "bandwidth.bus") > 0);
    }
}

TEST_CASE("chunks of an all-reduce are on the links between the GPUs, each once in a step") {
  const analysis::Run run = measured({"workload=collective", "machine=h200-8", "collective.ranks=4",
                                      "collective.bytes=4000", "steps=1"});
  const auto sends = spans_of(*run.trace, LaneKind::kLink, Category::kCollective);
  CHECK(sends.size() == 2 * 3 * 4);
  std::int64_t bytes = 0;
  for (const Span& send : sends)
    bytes += std::get<trace::CopyDetail>(*run.trace->detail(send)).bytes;
  CHECK(bytes == 2 * 3 * 4000);
}

TEST_CASE("GPUs that share a device say so in the trace's origin, and real ones do not") {
  const std::vector<std::string> settings{"workload=collective", "machine=h200-8",
                                          "collective.ranks=4", "steps=1"};
  const trace::Origin shared = measured(settings).trace->origin();
  CHECK(shared.subject == "Emulated GPU as 4 virtual GPUs");
  CHECK_THAT(shared.detail, Contains("4 GPUs are virtual ones that share 1 Emulated GPU"));
  test::EmulatedOptions options;
  options.gpus = 4;
  CHECK_THAT(measured(settings, options).trace->origin().detail, !Contains("virtual"));
}

TEST_CASE("what ranks have cached goes back to the real GPUs that they are on") {
  program::Config config;
  for (const char* setting : {"workload=train", "model.name=mlp", "data.name=digits", "steps=1",
                              "batch_size=8", "loop.empty_cache=true", "machine=h200-8",
                              "parallel.strategy=ddp", "parallel.world_size=4"})
    config.set_text(setting);
  const machine::Machine machine = train::machine_of(config);
  const program::Program program = train::with_every_rank(train::build_program(config, machine));
  for (const int gpus : {1, 2, 4}) {
    test::EmulatedOptions options;
    options.gpus = gpus;
    test::EmulatedDevice device(options);
    Carried run;
    cuda::Execution execution(program, machine, device, run.trace);
    CHECK_FALSE(execution.run());
    std::vector<int> emptied = device.emptied();
    std::sort(emptied.begin(), emptied.end());
    std::vector<int> all;
    for (int rank = 0; rank < 4; ++rank) all.push_back(rank % gpus);
    std::sort(all.begin(), all.end());
    CHECK(emptied == all);
  }
}

TEST_CASE("a rank whose program ends before a collective is named, with those that wait for it") {
  const auto run = carry_out(ranks_that_sum(3, 1));
  REQUIRE(run->failure);
  CHECK_THAT(run->failure->sentence, Contains("in collective 1 (all_reduce) of the default process "
                                              "group at line 5, ranks 0 and 1 wait for rank 2"));
  CHECK(spans_of(run->trace, LaneKind::kStream, Category::kCollective).size() == 3);
}

TEST_CASE("a rank that does not come in time ends the run, by the device's clock") {
  constexpr Nanos kHour = 3'600'000'000'000;
  program::Program program = ranks_that_sum(3, 2);
  auto& commands = program.threads.back().commands;
  commands.insert(commands.begin() + 1, {program::HostWork{kHour, false, false}});
  test::EmulatedOptions options;
  options.clock_runs_off = true;
  const auto run = carry_out(program, cuda::Meetings::kTimeOut, options);
  REQUIRE(run->failure);
  CHECK_THAT(run->failure->sentence,
             Contains("in collective 1 (all_reduce) of the default process group") &&
                 Contains("wait") && Contains("for rank") &&
                 Contains("which did not come within 600 s"));
  CHECK(spans_of(run->trace, LaneKind::kStream, Category::kCollective).size() == 3);
  CHECK_FALSE(carry_out(program, 1000 * kHour, options)->failure);
}

TEST_CASE("ranks that call for different collectives are told apart by name") {
  const auto failure_with = [](const auto& change) {
    program::Program program = ranks_that_sum(2, 2);
    change(std::get<program::Collective>(program.threads.back().commands[1].action));
    const auto run = carry_out(program);
    REQUIRE(run->failure);
    return run->failure->sentence;
  };
  const std::string bytes = failure_with([](program::Collective& one) { one.bytes = 800; });
  CHECK_THAT(bytes, Contains("all_reduce of 800 bytes") && Contains("all_reduce of 400 bytes") &&
                        Contains("rank 0") && Contains("rank 1"));
  const std::string kind =
      failure_with([](program::Collective& one) { one.kind = program::CollectiveKind::kReduce; });
  CHECK_THAT(kind, Contains("reduce of 400 bytes") && Contains("collective 1"));
}

TEST_CASE("every rank begins with the same model") {
  program::Config config;
  for (const char* setting : {"parallel.strategy=ddp", "parallel.world_size=2", "machine=h200-8",
                              "model.name=mlp", "data.name=spirals", "model.inputs=2"})
    config.set_text(setting);
  const program::Program one = train::build_program(config, train::machine_of(config));
  const program::Program all = train::with_every_rank(one);
  const host::InitialValues initial(all), alone(one);
  const auto count = static_cast<program::Index>(one.buffers.size());
  int random = 0;
  for (program::Index i = 0; i < count; ++i) {
    const program::Buffer& buffer = one.buffers[i];
    if (buffer.initial.kind == program::Initial::Kind::kConstant) continue;
    ++random;
    std::vector<float> first(static_cast<std::size_t>(buffer.elements())), second = first,
                                                                           before = first;
    alone.read(i, before);
    initial.read(i, first);
    initial.read(count + i, second);
    CHECK(first == before);
    CHECK(second == before);
  }
  CHECK(random > 3);
}

TEST_CASE("a rank that is missing in a group is named with the group") {
  program::Program program = ranks_that_sum(4, 1);
  program.communicators = {{"shard group", 2, {0, 1}, 2, 2, 2},
                           {"shard group", 2, {2, 3}, 2, 2, 2}};
  for (program::Thread& thread : program.threads)
    for (program::Command& command : thread.commands)
      std::get<program::Collective>(command.action).communicator = thread.rank / 2;
  const auto run = carry_out(program);
  REQUIRE(run->failure);
  CHECK_THAT(run->failure->sentence,
             Contains("in collective 1 (all_reduce) of the shard group at line 5, rank 2 waits for "
                      "rank 3, which cannot come"));
}

TEST_CASE("a library gets a group of its own for all ranks that sum together") {
  const auto ranks_with = [](const std::vector<std::string>& more) {
    program::Config config;
    for (const char* setting :
         {"workload=train", "model.name=mlp", "data.name=spirals", "model.inputs=2",
          "machine=h200-8", "parallel.world_size=4", "steps=2", "loop.evaluate=false"})
      config.set_text(setting);
    for (const std::string& setting : more) config.set_text(setting);
    const machine::Machine machine = train::machine_of(config);
    return train::with_every_rank(train::build_program(config, machine));
  };
  using Groups = std::vector<cuda::RankGroup>;
  CHECK(cuda::library_groups(ranks_with({"parallel.strategy=ddp"})) ==
        Groups{{"default process group", {0, 1, 2, 3}}});
  const program::Program mixed = ranks_with({"parallel.strategy=fsdp", "fsdp.shard_degree=2"});
  CHECK(cuda::library_groups(mixed) == Groups{{"shard group of ranks 0 and 1", {0, 1}},
                                              {"replicate group of ranks 0 and 2", {0, 2}},
                                              {"shard group of ranks 2 and 3", {2, 3}},
                                              {"replicate group of ranks 1 and 3", {1, 3}}});
  const auto pairs =
      cuda::library_groups(ranks_with({"parallel.strategy=pipeline", "model.layers=3"}));
  for (const cuda::RankGroup& pair : pairs) CHECK(pair.gpus.empty());
  CHECK(cuda::library_groups(ranks_with({"parallel.strategy=pipeline", "model.layers=3"}), true) ==
        Groups{{"ranks 0 and 1", {0, 1}, true},
               {"ranks 1 and 2", {1, 2}, true},
               {"ranks 2 and 3", {2, 3}, true}});
}

TEST_CASE("groups of ranks on GPUs of their own sum by the library as by rings") {
  for (const char* degree : {"fsdp.shard_degree=1", "fsdp.shard_degree=2"}) {
    const std::vector<std::string> settings{"workload=train",
                                            "model.name=mlp",
                                            "data.name=spirals",
                                            "steps=3",
                                            "batch_size=16",
                                            "model.inputs=2",
                                            "machine=h200-8",
                                            "model.hidden=16",
                                            "parallel.strategy=fsdp",
                                            "parallel.world_size=4",
                                            degree};
    test::EmulatedOptions options;
    options.gpus = 4;
    const analysis::Run ring = measured(settings, options);
    CHECK_THAT(ring.trace->origin().detail, Contains("ring of copies and additions between"));
    options.has_library = true;
    const analysis::Run library = measured(settings, options);
    CHECK_THAT(library.trace->origin().detail, !Contains("ring"));
    REQUIRE_FALSE(library.ending);
    REQUIRE(ring.trace->steps().size() == library.trace->steps().size());
    for (std::uint32_t i = 0; i < ring.trace->steps().size(); ++i)
      CHECK(ring.trace->steps()[i].loss == library.trace->steps()[i].loss);
  }
}

TEST_CASE("a library's collectives have a span for each rank, and the same losses") {
  const std::vector<std::string> settings{
      "model.name=mlp",    "workload=train",        "data.name=spirals",    "steps=4",
      "batch_size=16",     "model.hidden=16",       "model.inputs=2",       "machine=h200-8",
      "model.dropout=0.1", "parallel.strategy=ddp", "parallel.world_size=4"};
  test::EmulatedOptions options;
  options.gpus = 4;
  const analysis::Run ring = measured(settings, options);
  CHECK_THAT(ring.trace->origin().detail, Contains("ring of copies and additions between the GPUs: "
                                                   "the library for them is missing"));
  options.has_library = true;
  const analysis::Run library = measured(settings, options);
  CHECK_THAT(library.trace->origin().detail, !Contains("ring"));
  for (const analysis::Run* run : {&ring, &library}) {
    REQUIRE_FALSE(run->ending);
    check_lanes(*run->trace);
  }
  CHECK(spans_of(*library.trace, LaneKind::kStream, Category::kCollective).size() ==
        spans_of(*ring.trace, LaneKind::kStream, Category::kCollective).size());
  CHECK(spans_of(*library.trace, LaneKind::kLink, Category::kCollective).empty());
  REQUIRE(ring.trace->steps().size() == library.trace->steps().size());
  for (std::uint32_t i = 0; i < ring.trace->steps().size(); ++i)
    CHECK(ring.trace->steps()[i].loss == library.trace->steps()[i].loss);
}
