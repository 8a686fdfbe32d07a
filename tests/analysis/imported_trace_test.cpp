// Metrics of traces that PyTorch wrote: that they count what the simulator's do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>

#include "analysis/facts.h"
#include "analysis/gradient_flow.h"
#include "analysis/operations.h"
#include "analysis/run.h"
#include "base/files.h"
#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"

using namespace trainscope;
using analysis::Run;

namespace {

Run real_run(const std::string& name) {
  return analysis::import_run("A", test::real_traces_folder() / (name + ".json.gz"));
}

double value(const Run& run, const char* name) {
  const auto found = analysis::value_of(run.metrics, name);
  INFO(name);
  REQUIRE(found);
  return *found;
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
  CHECK(value(run, "idle.data") / 1e6 == Approx(59.3).margin(0.05));
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
  CHECK(flow.only == 0);
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
