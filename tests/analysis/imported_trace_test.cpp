// Metrics of traces that PyTorch wrote: that they count what the simulator's do.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "analysis/operations.h"
#include "analysis/run.h"
#include "support/skip.h"
#include "support/traces.h"

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
  // Synchronisations 2.79 ms a step, and of 12 copies in 6 steps those of the measured ones.
  CHECK(value(real_run("resnet50-v100-2021-schema"), "host.blocked") / 1e6 ==
        Approx(2.79 + 2.0).margin(0.05));
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
