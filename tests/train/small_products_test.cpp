// Products of few rows in FP32: as quick as measured, without leaps, within memory and arithmetic.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "machine/gemm_tiles.h"
#include "sim/sm_run.h"
#include "train/build.h"

namespace trainscope::train {
namespace {

using machine::GemmType;

const std::vector<std::string> kMachines{"a100-sxm-1", "a100-40-pcie-1", "h100-sxm-1", "v100-sxm-1",
                                         "t4-1",       "l4-1",           "rtx4090-1",  "b200-1"};

// Of one product alone on the GPU, its operands cold or in L2 as its footprint has it.
double seconds(const machine::Gpu& gpu, std::int64_t m, std::int64_t n, std::int64_t k,
               const std::string& type = "fp32") {
  program::Config config;
  for (const auto& [name, side] : {std::pair{"m", m}, std::pair{"n", n}, std::pair{"k", k}})
    config.set_text("gemm." + std::string(name) + "=" + std::to_string(side));
  for (const std::string& word : {std::string("workload=gemm"), "gemm.type=" + type})
    config.set_text(word);
  machine::Machine machine;
  machine.gpu = gpu;
  return static_cast<double>(
             sim::run_alone(build_gemm(config, machine).operations.front(), gpu).kernel) *
         1e-9;
}

machine::Gpu gpu_of(const std::string& machine) {
  program::Config config;
  config.set_text("machine=" + machine);
  return machine_of(config).gpu;
}

}  // namespace

// NeuSight, linear.csv: torch.nn.Linear, less what one of nothing takes on that host.
TEST_CASE("FP32 products of few rows take as long as was measured") {
  struct Measured {
    const char* machine;
    std::int64_t rows, outputs, inputs;
    double micros;
  };
  const Measured all[] = {
      {"a100-40-pcie-1", 224, 62899, 532, 907},  {"a100-40-pcie-1", 186, 61389, 603, 964},
      {"a100-40-pcie-1", 118, 55979, 1025, 948}, {"a100-40-pcie-1", 40, 60902, 833, 421},
      {"a100-40-pcie-1", 33, 7769, 1000, 89},    {"a100-40-pcie-1", 27, 21543, 672, 71},
      {"a100-40-pcie-1", 26, 25301, 596, 73},    {"a100-40-pcie-1", 15, 12670, 697, 32},
      {"v100-pcie-1", 227, 32299, 947, 1271},    {"v100-pcie-1", 193, 31250, 942, 1224},
      {"v100-pcie-1", 26, 25301, 596, 112},      {"v100-pcie-1", 15, 12670, 697, 62},
  };
  for (const Measured& one : all) {
    CAPTURE(one.machine, one.rows, one.outputs, one.inputs);
    const double simulated = seconds(gpu_of(one.machine), one.rows, one.outputs, one.inputs) * 1e6;
    CHECK(simulated / one.micros == Approx(1).margin(0.25));
  }
}

// It may double where it needs another tile of rows: for each output and input, one of 33 rows was
// measured 2.8 times as long as one of 31 (linear.csv, A100: 89 us of 7769 x 1000, 36 of
// 10195 x 850).
TEST_CASE("one more row makes an FP32 product twice as long at most, and never much shorter") {
  constexpr double kLonger = 2.05, kShorter = 0.8;
  for (const std::string& machine : kMachines) {
    const machine::Gpu gpu = gpu_of(machine);
    for (const auto& [n, k] : {std::pair{4096, 4096}, std::pair{1000, 2048}, std::pair{64, 64}})
      for (const bool turned : {false, true}) {
        double before = 0;
        for (std::int64_t rows = 1; rows <= 160; ++rows) {
          CAPTURE(machine, n, k, turned, rows);
          const double now = turned ? seconds(gpu, n, rows, k) : seconds(gpu, rows, n, k);
          if (before > 0) {
            CHECK(now < kLonger * before);
            CHECK(now > kShorter * before);
          }
          before = now;
        }
      }
  }
}

TEST_CASE("a longer sum never makes an FP32 product much shorter") {
  constexpr double kShorter = 0.78;
  for (const std::string& machine : kMachines) {
    const machine::Gpu gpu = gpu_of(machine);
    for (const auto& [m, n] : {std::pair{1, 4096}, std::pair{16, 1000}, std::pair{64, 64}}) {
      double longest = 0;
      for (std::int64_t k = 4; k <= 4200; k += k < 600 ? 4 : 60) {  // rows begin at 16 bytes
        CAPTURE(machine, m, n, k);
        const double now = seconds(gpu, m, n, k);
        CHECK(now > kShorter * longest);
        longest = std::max(longest, now);
      }
    }
  }
}

TEST_CASE("no FP32 product is quicker than arithmetic and memory or L2 allow") {
  for (const std::string& machine : kMachines) {
    const machine::Gpu gpu = gpu_of(machine);
    const double rate = std::max(gpu.memory_bytes_per_s, gpu.l2_bytes_per_s);
    for (const std::int64_t m : {1, 2, 3, 8, 9, 16, 32, 33, 100})
      for (const std::int64_t n : {1, 7, 64, 1000, 8192})
        for (const std::int64_t k : {1, 100, 4096}) {
          CAPTURE(machine, m, n, k);
          const machine::GemmPlan plan = machine::plan_product(gpu, m, n, k, GemmType::kFp32);
          const double now = seconds(gpu, m, n, k);
          CHECK(now >= plan.flops / gpu.fp32_flops_per_s);
          CHECK(now >= plan.bytes / rate);
        }
  }
}

TEST_CASE(
    "a matrix times a vector runs at memory's rate, and a tiny product takes the shortest time") {
  for (const std::string& machine : kMachines) {
    const machine::Gpu gpu = gpu_of(machine);
    CAPTURE(machine);
    const std::int64_t side = 16384;  // a matrix of 1 GiB, larger than any L2
    const double ideal =
        4.0 * static_cast<double>(side * side) / (gpu.memory_bytes_per_s * gpu.memory_efficiency);
    for (const std::int64_t rows : {1, 2, 4}) {
      CHECK(seconds(gpu, rows, side, side) == Approx(ideal).epsilon(0.1));
      CHECK(seconds(gpu, side, rows, side) == Approx(ideal).epsilon(0.1));
    }
    const double floor = static_cast<double>(gpu.kernel_floor_ns) * 1e-9;
    CHECK(seconds(gpu, 32, 32, 32) <= 1.2 * floor);
    CHECK(seconds(gpu, 1, 1, 1) == Approx(floor).epsilon(0.05));
  }
}

}  // namespace trainscope::train
