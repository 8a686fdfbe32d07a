// The tracer through the plug-in: which launch work is of and when it was, whatever CUPTI's version
// gets wrong.

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "analysis/runs/measured_run.h"
#include "cuda/calibration/bench.h"
#include "cuda/device_checks.h"
#include "plugin/own_gpu.h"

using namespace trainscope;
using test::check_learns_alike;
using test::config_of;
using test::Gpu;
using test::is_missing;
using test::kFp32;
using test::kMlp;

namespace {

// A graph that scales numbers twice, and then one of a product, launched in turn.
std::vector<cuda::Activity> graphs_in_turn(cuda::DeviceCalls& device) {
  cuda::Bench bench(device, cuda::WatchLevel::kEverything);
  const cuda::KernelCall& scale = bench.prepare(cuda::scale_kernel(64));
  const cuda::KernelCall& add = bench.prepare(cuda::add_kernel(64));
  const auto graph_of = [&](const cuda::KernelCall& kernel, int nodes) {
    const cuda::StreamHandle own = device.make_stream(program::StreamKind::kNonBlocking, 0, 0);
    device.begin_capture(own);
    for (int i = 0; i < nodes; ++i) device.launch(kernel, own);
    const cuda::GraphHandle graph = device.end_capture(own);
    device.instantiate(graph);
    return graph;
  };
  const cuda::GraphHandle scales = graph_of(scale, 2), adds = graph_of(add, 3);
  device.synchronise();
  device.collect();
  cuda::CallId call = 0;
  const auto launch = [&](const auto& act) { during_call(device, ++call, bench.stream(), act); };
  for (int i = 0; i < 4; ++i) {
    launch([&] { device.launch_graph(scales, bench.stream()); });
    launch([&] { device.launch(add, bench.stream()); });
    launch([&] { device.launch_graph(adds, bench.stream()); });
    launch([&] { device.launch(scale, bench.stream()); });
  }
  device.synchronise();
  const cuda::Activities all = device.collect();
  CHECK(all.foreign == 0);
  CHECK(all.untimed == 0);
  CHECK(all.cut == 0);
  return all.records;
}

void check_graphs_in_turn(cuda::DeviceCalls& device) {
  const Nanos begun = device.now();
  const std::vector<cuda::Activity> all = graphs_in_turn(device);
  const bool by_events = device.facts().driver.find("pairs of events") != std::string::npos;
  std::map<cuda::CallId, std::multiset<std::string>> found;
  for (const cuda::Activity& one : all) {
    CHECK(one.start >= begun);
    CHECK(one.end <= device.now());
    if (by_events) continue;
    found[one.call].insert(one.name.find("scale") != std::string::npos ? "scale" : "add");
  }
  if (by_events) return;
  std::map<cuda::CallId, std::multiset<std::string>> launched;
  for (cuda::CallId i = 0; i < 4; ++i) {
    launched[4 * i + 1] = {"scale", "scale"};
    launched[4 * i + 2] = {"add"};
    launched[4 * i + 3] = {"add", "add", "add"};
    launched[4 * i + 4] = {"scale"};
  }
  CHECK(found == launched);
}

}  // namespace

TEST_CASE(
    "through the plug-in work of graphs is its launch's, in whichever session of the tracer") {
  Gpu gpu;
  cuda::wake_up(*gpu);
  for (int session = 0; session < 3; ++session) {
    check_graphs_in_turn(*gpu);
    gpu->watch(cuda::WatchLevel::kNothing);
    gpu->watch(cuda::WatchLevel::kEverything);
  }
  const bool is_told = gpu->facts().driver.find("can name the wrong launch") != std::string::npos;
  CHECK(is_told == !is_missing("libcupti.so.13"));
}

TEST_CASE("a tracer without the faults of older ones is taken as it is", "[.new_tracer]") {
  Gpu gpu;
  for (int session = 0; session < 2; ++session) {
    check_graphs_in_turn(*gpu);
    gpu->watch(cuda::WatchLevel::kNothing);
    gpu->watch(cuda::WatchLevel::kEverything);
  }
  CHECK(gpu->facts().driver.find("CUPTI") == std::string::npos);
  check_learns_alike(*gpu, kMlp, kFp32);
}

TEST_CASE("a record that the tracer hands over unfinished is counted, and the run goes on",
          "[.cut]") {
  Gpu gpu;
  const analysis::Run run = analysis::measured_run("A", config_of(kMlp), *gpu);
  CHECK_FALSE(run.ending);
  CHECK(test::dropped(
            *run.trace,
            "buffers of the tracer that end in an unfinished record, and what came behind it") ==
        1);
  CHECK(test::dropped(*run.trace, "records that the tracer had no room for") == 0);
}
