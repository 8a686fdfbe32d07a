// What a change to a recorded run would bring, from its replays.
#include "analysis/advice/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "analysis/causes/diagnosis.h"
#include "base/temporary_folder.h"
#include "support/config.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_writer.h"
#include "trace/ranks.h"

using namespace trainscope;
using analysis::Altered;
using analysis::Run;
using analysis::WhatIf;
using test::config_of;
using test::TemporaryFolder;

namespace {

// A run, written as a profiler writes it and read again.
Run recorded(const TemporaryFolder& folder, const std::vector<std::string>& settings) {
  const auto file = folder.path() / "trace.json";
  trace::write_chrome_trace(*analysis::run_config("A", config_of(settings)).trace, file);
  return analysis::import_run("A", file);
}

const Altered* change_of(const WhatIf& what_if, const std::string& setting) {
  const auto found = std::ranges::find(what_if.changes, setting, analysis::text_of);
  return found == what_if.changes.end() ? nullptr : &*found;
}

double step_time(const Run& run) {
  return *analysis::value_of(run.metrics, "time.step");
}

void check_order(const WhatIf& what_if) {
  for (std::size_t i = 0; i < what_if.changes.size(); ++i) {
    const Altered& one = what_if.changes[i];
    INFO(analysis::text_of(one));
    CHECK(static_cast<double>(one.time) <= 0.99 * static_cast<double>(what_if.replayed));
    if (i > 0) CHECK(what_if.changes[i - 1].time <= one.time);
  }
}

}  // namespace

TEST_CASE("what holds a run back is what would bring most, and what is hidden brings nothing") {
  const TemporaryFolder folder;
  const Run starved = recorded(folder, {"model.name=mlp", "loader.num_workers=1",
                                        "loader.sample_ms=1", "steps=6", "loop.evaluate=false"});
  const auto what_if = analysis::what_if(starved);
  REQUIRE(what_if);
  CHECK(what_if->steps > 0);
  CHECK(static_cast<double>(what_if->recorded) == Approx(step_time(starved)));
  CHECK(static_cast<double>(what_if->replayed) == Approx(step_time(starved)).epsilon(0.001));
  check_order(*what_if);
  REQUIRE(!what_if->changes.empty());
  CHECK(analysis::text_of(what_if->changes.front()) == "replay.batches_ready=true");
  CHECK_FALSE(change_of(*what_if, "replay.kernel_speed=2"));
  CHECK_FALSE(change_of(*what_if, "replay.communication_speed=2"));

  const Run busy = recorded(folder, {"model.name=resnet50", "batch_size=128", "precision=fp16",
                                     "steps=6", "data.source=tensor"});
  const auto of_busy = analysis::what_if(busy);
  REQUIRE(of_busy);
  check_order(*of_busy);
  REQUIRE(!of_busy->changes.empty());
  CHECK(analysis::text_of(of_busy->changes.front()) == "replay.kernel_speed=2");
  CHECK_FALSE(change_of(*of_busy, "replay.batches_ready=true"));
}

TEST_CASE("a change takes what a run of its setting takes") {
  const TemporaryFolder folder;
  const Run run = recorded(folder, {"model.name=mlp", "steps=6", "loop.item_every=1"});
  const auto what_if = analysis::what_if(run);
  REQUIRE(what_if);
  const Altered* faster = change_of(*what_if, "replay.host_speed=2");
  REQUIRE(faster);
  program::Config config = analysis::replay_of((folder.path() / "trace.json").string());
  analysis::set_all(config, analysis::text_of(*faster));
  CHECK(step_time(analysis::run_config("B", config)) ==
        Approx(static_cast<double>(faster->time)).epsilon(1e-5));
}

TEST_CASE("nothing is asked of what has no host, no GPU or a program of its own") {
  CHECK_FALSE(analysis::what_if(analysis::run_config("A", config_of({"workload=copy"}))));
  const TemporaryFolder folder;
  const Run cpu = recorded(folder, {"model.name=mlp", "device=cpu", "steps=3"});
  CHECK_FALSE(analysis::what_if(cpu));
  const auto file = folder.write("kernels.json", R"({"traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": 1, "dur": 50,
     "args": {"device": 0, "stream": 7, "correlation": 3}}]})");
  CHECK_FALSE(analysis::what_if(analysis::import_run("A", file)));
}

TEST_CASE("recorded traces: a host that is behind, and one that waits for batches") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const auto of = [](const char* name) {
    const auto found =
        analysis::what_if(analysis::import_run("A", test::real_traces_folder() / name));
    REQUIRE(found);
    CHECK(std::abs(found->replayed - found->recorded) < kMicrosecond);
    check_order(*found);
    return *found;
  };
  // All but 50 of 222 ms of a step the GPU stands still: its sums are no matter, though exposed.
  const WhatIf behind = of("ddp-a100-2ranks.json.gz");
  REQUIRE(change_of(behind, "replay.host_speed=2"));
  CHECK(static_cast<double>(change_of(behind, "replay.host_speed=2")->time) ==
        Approx(0.5 * static_cast<double>(behind.replayed)).epsilon(0.02));
  CHECK_FALSE(change_of(behind, "replay.communication_speed=1000"));
  // 59 of 178 ms it waits for a batch, in turn with kernels that no host is behind.
  const WhatIf starved = of("resnet50-v100-2021-schema.json.gz");
  REQUIRE(change_of(starved, "replay.batches_ready=true"));
  CHECK(static_cast<double>(starved.replayed -
                            change_of(starved, "replay.batches_ready=true")->time) /
            1e6 ==
        Approx(59).margin(1));
}

namespace {

// A job of four ranks, the files that they write read again.
Run job(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> settings{
      "workload=train",        "model.name=resnet50",  "steps=5", "machine=l40s-4", "batch_size=16",
      "parallel.strategy=ddp", "parallel.world_size=4"};
  settings.insert(settings.end(), more.begin(), more.end());
  const Run run = analysis::run_config("A", config_of(settings));
  for (const int rank : trace::ranks_of(*run.trace))
    trace::write_chrome_trace(*trace::part_of_rank(*run.trace, rank),
                              folder.path() / fmt::format("rank_{}.json", rank));
  return analysis::import_run("A", folder.path());
}

}  // namespace

TEST_CASE("of a job's ranks, what makes the one late that the others wait for") {
  const TemporaryFolder of_late, of_even;
  const auto found = analysis::what_if(job(of_late, {"straggler.rank=2", "straggler.factor=1.3"}));
  REQUIRE(found);
  CHECK(found->refusal == "");
  CHECK(std::abs(found->replayed - found->recorded) < 10 * kMicrosecond);
  check_order(*found);
  const auto of_rank = [](const Altered& one) { return one.settings[0] == "replay.rank=2"; };
  const auto first = std::ranges::find_if(found->changes, of_rank);
  REQUIRE(first != found->changes.end());
  CHECK(first->words == "Rank 2, which the others wait for: kernels as fast as theirs (1.30 x)");
  CHECK(std::ranges::count_if(found->changes, of_rank) == 1);
  const Run even = job(of_even, {"straggler.rank=-1"});
  CHECK(static_cast<double>(first->time) == Approx(step_time(even)).epsilon(0.01));
}

TEST_CASE("a trace that is too long to replay is told so") {
  const TemporaryFolder folder;
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  const trace::LaneId host =
      trace->add_lane({"python", trace::LaneKind::kHostThread, 0, -1, 1, 1, "host"});
  const trace::LaneId stream =
      trace->add_lane({"stream 7", trace::LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  trace::Span span;
  span.duration = 10;
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    span.correlation = i + 1;
    span.start = 100 * Nanos{i};
    span.lane = host;
    span.category = trace::Category::kHostApi;
    trace->add_span(span);
    span.lane = stream;
    span.category = trace::Category::kKernel;
    trace->add_span(span);
  }
  Run run;
  run.trace = trace;
  const auto found = analysis::what_if(run);
  REQUIRE(found);
  CHECK(found->changes.empty());
  CHECK_THAT(found->refusal, Catch::StartsWith("The trace has 600 k spans"));
}

TEST_CASE(
    "findings of a trace are sorted by what replays save, and what saves nothing is left out") {
  const TemporaryFolder folder;
  const Run starved = recorded(
      folder, {"model.name=resnet18", "batch_size=64", "steps=8", "loader.num_workers=1",
               "loader.sample_ms=1", "loader.persistent_workers=true", "loop.evaluate=false"});
  const auto asked = analysis::what_if(starved);
  REQUIRE(asked);
  const auto findings = analysis::diagnose(starved, {}, &*asked);
  REQUIRE(!findings.empty());
  CHECK(findings.front().part == analysis::Part::kIdleData);
  CHECK_THAT(findings.front().advice, Catch::Contains("Replayed (SIMULATED): The next batch is "
                                                      "always there"));
  CHECK(findings.front().most_gain == 0);
  for (const auto& one : findings) CHECK(one.part != analysis::Part::kCompute);
}

TEST_CASE("what a trace without steps would take is told of the whole") {
  const TemporaryFolder folder;
  // And a thread that looks in once at the beginning and once at the end.
  std::string events = R"(
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaEventQuery", "pid": 9, "tid": 11, "ts": 5,
     "dur": 2},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaEventQuery", "pid": 9, "tid": 11, "ts": 3990,
     "dur": 2})";
  for (int i = 0; i < 40; ++i)
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
           "ts": {}, "dur": 10, "args": {{"correlation": {}}}}},
           {{"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": {}, "dur": 5,
           "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
        ",", 100 * i, i + 1, 100 * i + 12, i + 1);
  const Run run = analysis::import_run(
      "A", folder.write("launches.json", "{\"traceEvents\": [" + events + "]}"));
  const auto asked = analysis::what_if(run);
  REQUIRE(asked);
  REQUIRE(asked->steps == 0);
  REQUIRE(change_of(*asked, "replay.host_speed=2"));
  const auto findings = analysis::diagnose(run, {}, &*asked);
  REQUIRE(!findings.empty());
  CHECK(findings.front().part == analysis::Part::kIdleLaunch);
  CHECK_THAT(findings.front().advice, Catch::Contains(" instead of "));
  CHECK_THAT(findings.front().advice, !Catch::Contains("a step"));
}

TEST_CASE("the start of a process, and a program's own code, no faster operators make shorter") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  // Of AlexNet's 43.4 s, 39.3 are the driver's before the first launches, which take 3.06 s
  // themselves as they load kernels; of the three streams' 19.9 ms, 18.6 are not recorded.
  struct Start {
    const char* name;
    double least;
  };
  int offered = 0;
  for (const auto& [name, least] :
       {Start{"alexnet.json.gz", 39e9}, Start{"three-streams-events.json.gz", 18.6e6}}) {
    INFO(name);
    const Run run = analysis::import_run("A", test::real_traces_folder() / name);
    const auto asked = analysis::what_if(run);
    REQUIRE(asked);
    for (const char* speed : {"replay.host_speed=2", "replay.host_speed=1000"})
      if (const Altered* faster = change_of(*asked, speed)) {
        ++offered;
        CHECK(static_cast<double>(faster->time) >= least);
      }
  }
  CHECK(offered > 0);
}

TEST_CASE("batches that are made ready without a mark are not torch.compile's gain") {
  const TemporaryFolder folder;
  // Three steps of 40 launches, 100 us apart, and 20 ms before each of which nothing is recorded.
  std::string events;
  for (int step = 0; step < 3; ++step) {
    const int begin = 24'000 * step;
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#{}", "pid": 9, "tid": 9,
           "ts": {}, "dur": 24000}})",
        step > 0 ? "," : "", step, begin);
    for (int i = 0; i < 40; ++i)
      events += fmt::format(
          R"(,{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
             "ts": {}, "dur": 10, "args": {{"correlation": {}}}}},
             {{"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": {}, "dur": 5,
             "args": {{"device": 0, "stream": 7, "correlation": {}}}}})",
          begin + 20'000 + 100 * i, 40 * step + i + 1, begin + 20'012 + 100 * i, 40 * step + i + 1);
  }
  const Run run =
      analysis::import_run("A", folder.write("gap.json", "{\"traceEvents\": [" + events + "]}"));
  const auto asked = analysis::what_if(run);
  REQUIRE(asked);
  CHECK(asked->steps == 3);
  const Altered* faster = change_of(*asked, "replay.host_speed=2");
  REQUIRE(faster);
  CHECK(static_cast<double>(faster->time) == Approx(22e6).epsilon(0.005));
  const Altered* none = change_of(*asked, "replay.host_speed=1000");
  REQUIRE(none);
  CHECK(none->time >= 20 * kMillisecond);
}
