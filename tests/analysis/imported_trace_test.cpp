// Metrics of traces that PyTorch wrote: that they count what the simulator's do.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/causes/critical_path.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/runs/run.h"
#include "analysis/steps/facts.h"
#include "analysis/views/gradient_flow.h"
#include "analysis/views/operations.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/units.h"
#include "support/metric_value.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"

using namespace trainscope;
using analysis::Run;
using test::value;

namespace {

Run real_run(const std::string& name) {
  return analysis::import_run("A", test::real_traces_folder() / (name + ".json.gz"));
}

// Counted from the file itself (tests/golden/imported.py), to what rounding its times leaves open.
Approx golden(const std::string& name, const char* metric) {
  std::ifstream file(home_folder() / "tests" / "golden" / "imported.json");
  return Approx(nlohmann::json::parse(file)[name][metric].get<double>()).epsilon(1e-4);
}

}  // namespace

TEST_CASE("a GPU that is idle while its host loads the next batch waits for data") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Run run = real_run("resnet50-v100-2021-schema");
  // The gaps between kernels that were launched before are none: 0.6 ms of the 59.3 ms in which the
  // host loads.
  CHECK(value(run, "idle.data") / 1e6 == Approx(58.7).margin(0.05));
  CHECK(value(run, "idle.launch") < 0.3 * value(run, "idle.data"));
  REQUIRE(!run.gaps.empty());
  CHECK(run.gaps.front().cause == analysis::Part::kIdleData);
}

TEST_CASE("copies of pageable memory hold the host of an imported trace, too") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  // Synchronisations 0.1 ms a step, and of 12 copies in 6 steps those of the measured ones; not the
  // 16 ms for which the profiler waits behind the last of them.
  CHECK(value(real_run("resnet50-v100-2021-schema"), "host.blocked") / 1e6 ==
        Approx(0.1 + 2.0).margin(0.05));
  CHECK(value(real_run("alexnet"), "host.blocked") / 1e6 == Approx(1.5 + 57.0).margin(0.1));
}

TEST_CASE("a call that holds its thread is an operation of an imported trace, as others are") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Run run = real_run("resnet50-v100-2021-schema");
  const auto all = analysis::operations(run.facts.measured);
  const auto of = [&](std::string_view name) {
    return std::ranges::count(all, name, &analysis::Operation::name);
  };
  CHECK(of("cudaMemcpyAsync") == 1);
  CHECK(of("cudaStreamSynchronize") == 1);
}

TEST_CASE("how long a profiler recorded is not how long the run took") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  // The record spans 62.5 ms, what happened within it the last 19.9.
  const Run run = real_run("three-streams-events");
  CHECK(value(run, "time.total") / 1e6 == Approx(19.9).margin(0.1));
  CHECK(value(run, "gpu.util") > 0.0059 * 62.5 / 20);
}

TEST_CASE("what a file tells nothing of is absent") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  // No GPU, and no loader.
  CHECK_FALSE(analysis::value_of(real_run("cpu-only").metrics, "host.blocked"));
  CHECK_FALSE(analysis::value_of(real_run("three-streams-events").metrics, "idle.data"));
  CHECK(analysis::value_of(real_run("three-streams-events").metrics, "host.blocked"));
}

TEST_CASE("shadows of steps on a GPU are no steps") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const auto trace =
      trace::read_chrome_trace(test::real_traces_folder() / "ddp-a100-2ranks.json.gz");
  const auto facts = [&] {
    const analysis::Measured measured = analysis::measure(*trace, nullptr, nullptr);
    return std::tuple(measured.steps, measured.window.start, measured.window.end,
                      measured.kernels.length());
  };
  const auto before = facts();
  REQUIRE(std::get<0>(before) > 1);
  trace::Lane lane;
  lane.name = "stream 7 annotations";
  lane.device = 0;
  trace::Span shadow;
  shadow.lane = trace->add_lane(lane);
  shadow.category = trace::Category::kAnnotation;
  for (const analysis::StepWindow& step : analysis::step_windows(*trace)) {
    shadow.name = trace->intern("ProfilerStep#9");
    shadow.start = step.mark.start + 1000;
    shadow.duration = 6'000'000;
    trace->add_span(shadow);
  }
  CHECK(facts() == before);
}

TEST_CASE("a rank's own trace tells nothing of the other ranks") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Run run = real_run("ddp-a100-2ranks");
  for (const char* name : {"comm.wait", "comm.stuck", "idle.collective"}) {
    INFO(name);
    CHECK_FALSE(analysis::value_of(run.metrics, name));
  }
  CHECK(value(run, "comm.exposed") == golden("ddp-a100-2ranks", "comm.exposed"));
  const analysis::GradientFlow flow = analysis::gradient_flow(*run.trace, nullptr);
  CHECK(flow.ranks == 2);
  CHECK(flow.here == std::vector<int>{0});
}

TEST_CASE("what autograd adds up outside of its functions is backward") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const std::string name = "resnet50-v100-2021-schema";
  CHECK(value(real_run(name), "time.backward") == golden(name, "time.backward"));
}

TEST_CASE("where no arrow tells what is forward, the numbers of autograd's nodes do") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const std::string name = "resnet50-v100-2021-schema";
  const Run run = real_run(name);
  CHECK(value(run, "time.forward") == golden(name, "time.forward"));
  std::map<trace::Category, int> kernels;
  for (trace::SpanId id = 0; id < run.trace->spans().size(); ++id)
    ++kernels[run.trace->spans()[id].category];
  std::ifstream file(home_folder() / "tests" / "golden" / "imported.json");
  const nlohmann::json counted = nlohmann::json::parse(file)[name]["kernels"];
  CHECK(kernels[trace::Category::kForward] == counted["forward"]);
  CHECK(kernels[trace::Category::kBackward] == counted["backward"]);
  CHECK(kernels[trace::Category::kOptimizer] == counted["optimizer"]);
  CHECK(kernels[trace::Category::kKernel] == counted["none"]);
}

TEST_CASE("launches of AMD's runtime are counted as NVIDIA's are") {
  const auto calls = [](const std::string& launch) {
    const auto trace = trace::read_chrome_trace(
        "t.json",
        R"({"traceEvents": [
          {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#0", "pid": 1, "tid": 1,
           "ts": 0, "dur": 100},
          {"ph": "X", "cat": "cuda_runtime", "name": ")" +
            launch + R"(", "pid": 1, "tid": 1, "ts": 5, "dur": 2, "args": {"correlation": 4}},
          {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 30,
           "args": {"stream": 7, "device": 0, "correlation": 4}}]})");
    return analysis::gather_facts(*trace, nullptr, nullptr).host.launches;
  };
  CHECK(calls("cudaLaunchKernel") == 1);
  CHECK(calls("hipLaunchKernel") == 1);
  CHECK_FALSE(calls("hipGetDevice") == 1);
}

namespace {

// A file as a profiler writes one, of these events alone.
Run imported(const test::TemporaryFolder& folder, const std::string& events) {
  return analysis::import_run(
      "A", folder.write("trace.json", R"({"schemaVersion": 1, "traceEvents": [)" + events + "]}"));
}

std::string event(const char* kind, const std::string& name, int thread, int start, int length,
                  const std::string& args = "") {
  return fmt::format(
      R"({{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}{}}})",
      kind, name,
      thread == 7    ? 0
      : thread > 200 ? 200
                     : 100,
      thread, start, length, args.empty() ? "" : ", \"args\": {" + args + "}");
}

// A kernel of 80 us, and behind it a call that waits for it.
std::string waiting_step(const std::string& wait, int start, int number) {
  const std::string joined = "\"correlation\": " + std::to_string(number);
  return event("cuda_runtime", "cudaLaunchKernel", 101, start + 5, 5, joined) + "," +
         event("kernel", "sgemm", 7, start + 20, 80, joined + ", \"device\": 0, \"stream\": 7") +
         "," + event("cuda_runtime", wait, 101, start + 12, 188);
}

}  // namespace

TEST_CASE("a wait for the GPU is one whoever made the runtime") {
  for (const char* wait : {"cudaDeviceSynchronize", "hipDeviceSynchronize", "cuCtxSynchronize"}) {
    const test::TemporaryFolder folder;
    const Run run = imported(folder, waiting_step(wait, 0, 1) + "," + waiting_step(wait, 200, 2));
    INFO(wait);
    CHECK(value(run, "idle.sync") > 50'000);
    CHECK(value(run, "idle.copy") == 0);
  }
}

TEST_CASE("steps of several processes in one file are those of one of them") {
  const test::TemporaryFolder folder;
  std::string events = waiting_step("cudaDeviceSynchronize", 0, 1);
  for (const int thread : {101, 201})
    for (int i = 0; i < 3; ++i)
      events += "," + event("user_annotation", "ProfilerStep#" + std::to_string(i), thread,
                            1000 * i + thread % 100, 990);
  const Run run = imported(folder, events);
  CHECK(run.facts.measured.steps == 3);
  CHECK(value(run, "time.step") == Approx(990'000).epsilon(0.02));
}

TEST_CASE("marks of steps that have no length leave the whole run measured") {
  const test::TemporaryFolder folder;
  const Run run = imported(folder, event("user_annotation", "ProfilerStep#0", 101, 0, 0) + "," +
                                       waiting_step("cudaDeviceSynchronize", 10, 1));
  CHECK(run.facts.measured.steps == 0);
  CHECK(value(run, "gpu.busy") == Approx(80'000));
}

TEST_CASE(
    "advice is for what the trace has: a host or none, a rank's peers, launches by another name") {
  const auto first = [](const Run& run) {
    const auto findings = analysis::diagnose(run);
    REQUIRE(!findings.empty());
    return findings.front();
  };
  const test::TemporaryFolder folder;
  const std::string on_gpu = "\"device\": 0, \"stream\": 7";
  CHECK_THAT(first(imported(folder, event("kernel", "sgemm", 7, 0, 10, on_gpu) + "," +
                                        event("kernel", "sgemm", 7, 500, 10, on_gpu)))
                 .advice,
             Catch::Contains("ProfilerActivity.CPU"));
  std::string launches;
  for (int i = 0; i < 20; ++i) {
    const std::string joined = "\"correlation\": " + std::to_string(i + 1);
    launches += event("cuda_runtime", "hipLaunchKernel", 101, 50 * i, 40, joined) + "," +
                event("kernel", "sgemm", 7, 50 * i + 42, 4, joined + ", " + on_gpu) +
                (i < 19 ? "," : "");
  }
  CHECK_THAT(first(imported(folder, launches)).advice, Catch::Contains("ProfilerActivity.CPU"));
  launches += "," + event("cpu_op", "aten::mm", 101, 49, 1);
  CHECK_THAT(first(imported(folder, launches)).advice, Catch::Contains("CUDA graphs"));
  const std::string sum =
      event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 7, 0, 100,
            on_gpu + R"(, "Collective name": "allreduce", "In msg nelems": 9, "Group size": 4)");
  CHECK_THAT(first(imported(folder, sum)).why, Catch::Contains("waits for ranks"));
}

TEST_CASE(
    "of a profiler's trace whose host is behind it is told that the profiler has part in it") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Run run = real_run("ddp-a100-2ranks");
  double count = 0;
  for (const analysis::OperationRow& row : analysis::operation_rows(run.facts.measured))
    if (row.where == analysis::Operation::Where::kHost &&
        (row.category == trace::Category::kHostWork || row.category == trace::Category::kHostApi))
      count += row.a.count;
  const auto findings = analysis::diagnose(run);
  REQUIRE(!findings.empty());
  REQUIRE(findings.front().part == analysis::Part::kIdleLaunch);
  CHECK_THAT(findings.front().why,
             Catch::Contains(" us each on average, the profiler's own time included"));
  CHECK_THAT(findings.front().why,
             Catch::Contains(format_count(count) + " operators and calls a step"));
  CHECK_THAT(findings.front().advice, Catch::StartsWith("First time a step without the profiler."));
}

TEST_CASE("a trace whose GPU another profiler has written is not said to have none") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("jax.json", R"json({"displayTimeUnit": "ns", "traceEvents": [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
    {"ph": "M", "pid": 1, "tid": 13, "name": "thread_name",
     "args": {"name": "Stream #13(Compute)"}},
    {"ph": "X", "pid": 701, "tid": 1, "ts": 0, "dur": 900, "name": "PjitFunction(train_step)"},
    {"ph": "X", "pid": 1, "tid": 13, "ts": 100, "dur": 500, "name": "loop_fusion_3"}]})json");
  CHECK_THAT(analysis::import_run("A", file).caveat,
             Catch::Contains("XLA's or TensorFlow's") && !Catch::Contains("no work of a GPU"));
}

TEST_CASE("collectives of Gloo are operations of the host, and a trace without a GPU is told so") {
  const test::TemporaryFolder folder;
  const auto file = folder.write("gloo.json", R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#4", "pid": 9, "tid": 9,
     "ts": 1000, "dur": 1000},
    {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1050, "dur": 100},
    {"ph": "X", "cat": "user_annotation", "name": "epoch", "pid": 9, "tid": 9, "ts": 1010,
     "dur": 900},
    {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 9, "tid": 10,
     "ts": 1200, "dur": 400},
    {"ph": "X", "cat": "user_annotation", "name": "gloo:all_reduce", "pid": 9, "tid": 11,
     "ts": 1500, "dur": 300}]})");
  const Run run = analysis::import_run("A", file);
  CHECK_THAT(run.caveat,
             Catch::Contains("no work of a GPU") &&
                 Catch::Contains("collectives of Gloo are under way for 600 us of 1 ms"));
  const auto rows = analysis::operation_rows(run.facts.measured);
  const auto gloo = std::ranges::find(rows, "gloo:all_reduce", &analysis::OperationRow::name);
  REQUIRE(gloo != rows.end());
  CHECK(gloo->a.count == 2);
  CHECK(gloo->a.self == 700e3);
  CHECK(std::ranges::find(rows, "epoch", &analysis::OperationRow::name) == rows.end());
  CHECK(std::ranges::find(rows, "aten::mm", &analysis::OperationRow::name) != rows.end());
}

TEST_CASE("where nothing tells what the host did, no path through it is told") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  const Run run = real_run("cpu-only");
  CHECK(analysis::shares_in_words(analysis::critical_path(run.facts.measured)).empty());
  CHECK_THAT(run.caveat, Catch::Contains("collectives of Gloo are under way for "));
}
