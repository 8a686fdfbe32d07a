// What few warps, and few SMs, reach of a GPU: a warp is served as a whole, issues to a quarter of
// its SM, and an SM reads through a port of its own.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/runs/run.h"
#include "machine/architecture.h"
#include "support/config.h"

using namespace trainscope;
using analysis::Run;

namespace {

double value(const std::vector<std::string>& more, const char* metric) {
  std::vector<std::string> settings{"workload=kernel", "host.profile=native"};
  settings.insert(settings.end(), more.begin(), more.end());
  const Run run = analysis::run_config("A", test::config_of(settings));
  const auto found = analysis::value_of(run.metrics, metric);
  INFO(metric);
  REQUIRE(found);
  return *found;
}

const char* const kMachines[] = {"v100-sxm-1", "t4-1", "a100-sxm-1", "h200-1"};

// Arithmetic alone.
double computing(const std::string& machine, int block, const std::string& more = "kernel.ilp=8") {
  return value({"machine=" + machine, "kernel.block=" + std::to_string(block), "kernel.grid=200000",
                "kernel.flops_per_thread=10000", "kernel.bytes_per_thread=0", more},
               "gpu.busy");
}

}  // namespace

// The first kernels of a step begin beside the last of the one before it.
TEST_CASE("kernels on several streams reach the peak and no more") {
  const std::vector<std::string> settings{"machine=v100-pcie-1", "kernel.streams=6",
                                          "kernel.grid=16384",   "kernel.count=8",
                                          "kernel.registers=32", "host.profile=pytorch-eager"};
  for (const char* metric : {"mfu", "hfu"}) {
    CHECK(value(settings, metric) > 0.999);
    CHECK(value(settings, metric) <= 1);
  }
}

TEST_CASE("a block's last warp takes as long with one thread as with all") {
  for (const char* machine : kMachines) {
    INFO(machine);
    CHECK(computing(machine, 1) == Approx(computing(machine, 32)).epsilon(0.01));
    CHECK(computing(machine, 33) == Approx(computing(machine, 64)).epsilon(0.01));
    CHECK(computing(machine, 33) > 1.5 * computing(machine, 32));
  }
}

TEST_CASE("a lone warp on each SM reaches a quarter of the peak, four all of it") {
  for (const char* machine : kMachines) {
    INFO(machine);
    const auto reached = [&](int block) {
      // One block an SM: its shared memory leaves no room for another.
      const char* shared = std::string(machine) == "t4-1" ? "kernel.shared_bytes=60000"
                                                          : "kernel.shared_bytes=90000";
      const std::vector<std::string> settings{std::string("machine=") + machine,
                                              "kernel.block=" + std::to_string(block),
                                              shared,
                                              "kernel.grid=100000",
                                              "kernel.ilp=16",
                                              "kernel.flops_per_thread=10000",
                                              "kernel.bytes_per_thread=0"};
      return value(settings, "mfu");
    };
    const double blocks = std::string(machine) == "h200-1" ? 2 : 1;  // 90 kB twice on its SMs
    CHECK(reached(32) == Approx(0.25 * blocks).epsilon(0.02));
    CHECK(reached(128) == Approx(1).epsilon(0.02));
  }
}

TEST_CASE("one SM reads no more than its port lets through, and all of them what memory gives") {
  for (const char* machine : kMachines) {
    INFO(machine);
    const machine::Gpu gpu = machine::load_machine(machine).gpu;
    const auto bytes_per_s = [&](int blocks) {
      const double time =
          value({std::string("machine=") + machine, "kernel.grid=" + std::to_string(blocks),
                 "kernel.block=1024", "kernel.ilp=16", "kernel.bytes_per_thread=100000",
                 "kernel.flops_per_thread=0"},
                "gpu.busy");
      return blocks * 1024 * 100'000.0 / time * 1e9;
    };
    const double port = machine::kSmPort * gpu.boost_clock_hz;
    CHECK(bytes_per_s(1) <= 1.001 * port);
    CHECK(bytes_per_s(1) == Approx(port).epsilon(0.02));
    CHECK(bytes_per_s(16 * gpu.sm_count) ==
          Approx(gpu.memory_bytes_per_s * gpu.memory_efficiency).epsilon(0.05));
  }
}

TEST_CASE("a copy on the device is no faster than its memory, but where both places fit L2") {
  for (const char* machine : kMachines) {
    INFO(machine);
    const machine::Gpu gpu = machine::load_machine(machine).gpu;
    const auto rate = [&](std::int64_t bytes) {
      return 2e9 * static_cast<double>(bytes) /
             value({"workload=copy", std::string("machine=") + machine, "copy.direction=d2d",
                    "copy.bytes=" + std::to_string(bytes)},
                   "gpu.busy");
    };
    const double memory = gpu.memory_bytes_per_s * gpu.memory_efficiency;
    CHECK(rate(gpu.l2_bytes / 2 + 4096) <= 1.001 * memory);
    CHECK(rate(gpu.l2_bytes) == Approx(memory).epsilon(0.05));
  }
}

TEST_CASE("a copy on the device takes as long as the shortest kernel at least") {
  for (const char* machine : kMachines) {
    INFO(machine);
    const machine::Gpu gpu = machine::load_machine(machine).gpu;
    for (const char* bytes : {"1", "4096", "65536"}) {
      const double busy =
          value({"workload=copy", std::string("machine=") + machine, "copy.direction=d2d",
                 std::string("copy.bytes=") + bytes, "copy.count=100"},
                "gpu.busy");
      CHECK(busy >= 100 * static_cast<double>(gpu.kernel_floor_ns));
    }
  }
}
