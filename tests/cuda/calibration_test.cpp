// A calibration must find the costs that an emulated device was given, and write them so that the
// catalogue reads them again.

#include "cuda/calibration/calibration.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "cuda/calibration/machine_files.h"
#include "cuda/emulated_device.h"
#include "cuda/noise.h"

using namespace trainscope;

namespace {

// Some of a machine's figures, each multiplied by a number between half and twice.
machine::Machine random_machine(std::uint32_t seed) {
  static const char* kMachines[] = {"h100-sxm-1", "a100-sxm-1", "rtx4090-1", "t4-1", "h200-1"};
  machine::Machine machine = machine::load_machine(kMachines[seed % std::size(kMachines)]);
  std::mt19937 random(seed);
  const auto change = [&](auto& figure) {
    const double factor = std::exp2(static_cast<double>(random() % 2001) / 1000 - 1);
    figure = static_cast<std::remove_reference_t<decltype(figure)>>(
        static_cast<double>(figure) * factor + 0.5);
  };
  machine::Host& host = machine.host;
  for (Nanos machine::Host::* cost :
       {&machine::Host::launch_call_ns, &machine::Host::copy_call_ns, &machine::Host::event_call_ns,
        &machine::Host::sync_call_ns, &machine::Host::launch_latency_ns, &machine::Host::wake_ns,
        &machine::Host::graph_launch_ns, &machine::Host::graph_instantiate_node_ns})
    change(host.*cost);
  host.graph_launch_node_ns = 1 + random() % 200;
  host.launch_queue = 100 + static_cast<int>(random() % 2000);
  change(machine.gpu.kernel_floor_ns);
  change(machine.gpu.kernel_gap_ns);
  change(machine.pcie.h2d_latency_ns);
  change(machine.pcie.d2h_latency_ns);
  change(machine.pcie.h2d_bytes_per_s);
  change(machine.pcie.d2h_bytes_per_s);
  const double h2d = machine.pcie.h2d_bytes_per_s, d2h = machine.pcie.d2h_bytes_per_s;
  const double share = static_cast<double>(random() % 1000) / 1000;
  machine.pcie.both_bytes_per_s = std::max(h2d, d2h) + share * std::min(h2d, d2h);
  host.memcpy_bytes_per_s = 0.3 * h2d;
  host.memcpy_back_bytes_per_s = 0.4 * d2h;
  host.page_lock_bytes_per_s = 1e9 * (1 + 4 * share);
  machine.gpu.memory_efficiency = 0.5 + share / 3;
  machine.gpu.gemm_efficiency = 0.9 - share / 2;
  return machine;
}

cuda::CalibrationPlan small_plan() {
  cuda::CalibrationPlan plan;
  plan.repeats = 20;
  plan.few = 3;
  plan.most_copied = std::int64_t{64} << 20;
  return plan;
}

cuda::Calibration calibrated(const machine::Machine& machine) {
  test::EmulatedOptions options;
  options.costs = &machine;
  options.computes = false;
  test::EmulatedDevice device(options);
  return cuda::calibrate(device, small_plan(), machine.gpu.fp16_flops_per_s);
}

struct Expected {
  const char* name;
  double value;
  double within;  // share of it
};

std::vector<Expected> expected_of(const machine::Machine& machine) {
  const auto nanos = [](Nanos value) { return static_cast<double>(value); };
  const machine::Host& host = machine.host;
  const machine::Gpu& gpu = machine.gpu;
  std::vector<Expected> all{
      {"host.launch_call", nanos(host.launch_call_ns), 0},
      {"host.copy_call", nanos(host.copy_call_ns), 0},
      {"host.event_call", nanos(host.event_call_ns), 0},
      {"host.sync_call", nanos(host.sync_call_ns), 0},
      {"host.launch_latency", nanos(host.launch_latency_ns), 0},
      {"host.wake", nanos(host.wake_ns), 0},
      {"host.launch_queue", nanos(host.launch_queue), 0},
      {"host.graph_launch", nanos(host.graph_launch_ns), 1e-6},
      {"host.graph_launch_node", nanos(host.graph_launch_node_ns), 1e-6},
      {"host.graph_instantiate_node", nanos(host.graph_instantiate_node_ns), 1e-6},
      {"host.memcpy", host.memcpy_bytes_per_s, 0.001},
      {"host.memcpy_back", host.memcpy_back_bytes_per_s, 0.02},
      {"host.page_lock", host.page_lock_bytes_per_s, 1e-6},
      {"pcie.h2d", machine.pcie.h2d_bytes_per_s, 0.001},
      {"pcie.d2h", machine.pcie.d2h_bytes_per_s, 0.001},
      {"pcie.h2d_latency", nanos(machine.pcie.h2d_latency_ns), 0.002},
      {"pcie.d2h_latency", nanos(machine.pcie.d2h_latency_ns), 0.002},
      {"pcie.both", machine.pcie.both_bytes_per_s, 0.002},
      {"gpu.kernel_floor", nanos(gpu.kernel_floor_ns), 0},
      {"gpu.kernel_gap", nanos(gpu.kernel_gap_ns), 0},
      {"gpu.memory_bandwidth", gpu.memory_bytes_per_s, 1e-9},
      {"gpu.memory_efficiency", gpu.memory_efficiency, 0.002},
      {"gpu.gemm_efficiency", gpu.gemm_efficiency, 0.002},
      {"gpu.sm_count", nanos(gpu.sm_count), 0},
      {"gpu.shared_per_sm", nanos(gpu.shared_bytes_per_sm), 0}};
  if (gpu.l2_bytes_per_s > 0) all.push_back({"gpu.l2_bandwidth", gpu.l2_bytes_per_s, 0.02});
  return all;
}

}  // namespace

TEST_CASE("a calibration finds the costs that a device was given, whatever they are") {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const machine::Machine machine = random_machine(seed);
    const cuda::Calibration found = calibrated(machine);
    for (const Expected& expected : expected_of(machine)) {
      INFO("seed " << seed << ", " << expected.name);
      const cuda::MeasuredFigure* figure = found.find(expected.name);
      const bool is_l2 = std::string_view(expected.name) == "gpu.l2_bandwidth";
      if (is_l2 && !figure) {  // the shortest kernel hides it
        CHECK(found.left_out.size() == 1);
        continue;
      }
      REQUIRE(figure);
      CHECK(std::abs(figure->value - expected.value) <= expected.within * expected.value + 1e-9);
    }
    CHECK(found.left_out.size() <= 1);
  }
}

TEST_CASE("calls are timed while nothing watches them, from the first") {
  const machine::Machine machine = machine::load_machine("h100-sxm-1");
  test::EmulatedOptions options;
  options.costs = &machine;
  options.computes = false;
  options.traced_launch = 900;
  test::EmulatedDevice device(options);
  const auto found = cuda::calibrate(device, small_plan(), machine.gpu.fp16_flops_per_s);
  const auto call = static_cast<double>(machine.host.launch_call_ns);
  CHECK(found.find("host.launch_call")->value == Approx(call));
  CHECK(found.watched_launch_ns == Approx(call + 900));
}

TEST_CASE("a tracer whose clock is off, or that costs time between kernels, changes no sum") {
  const machine::Machine machine = machine::load_machine("h100-sxm-1");
  const auto latency = static_cast<double>(machine.host.launch_latency_ns);
  const auto wake = static_cast<double>(machine.host.wake_ns);
  const auto call = static_cast<double>(machine.host.launch_call_ns);
  test::EmulatedOptions options;
  options.costs = &machine;
  options.computes = false;
  options.traced_gap = 700;
  for (const Nanos ahead : {Nanos{-50'000}, Nanos{-600}, Nanos{0}, Nanos{600}, Nanos{50'000}}) {
    INFO(ahead);
    options.tracer_ahead = ahead;
    test::EmulatedDevice device(options);
    const auto found = cuda::calibrate(device, small_plan(), machine.gpu.fp16_flops_per_s);
    const double from_call = found.find("host.launch_latency")->value;
    const double to_return = found.find("host.wake")->value;
    CHECK(from_call + to_return == Approx(latency + wake));
    // As far off as the clock is, and no further than a kernel from before its launch to the wait.
    const double off = std::abs(static_cast<double>(ahead));
    CHECK(std::abs(from_call - latency) <= std::min(off, std::max(latency + call, wake)) + 1);
    CHECK(from_call >= 0);
    CHECK(to_return >= 0);
    CHECK(found.find("gpu.kernel_gap")->value ==
          Approx(static_cast<double>(machine.gpu.kernel_gap_ns)));
  }
}

TEST_CASE("products are measured by shape and type, and tell what they reach") {
  const machine::Machine machine = machine::load_machine("h100-sxm-1");
  const cuda::Calibration found = calibrated(machine);
  CHECK(found.products.size() == 4 * 6);
  for (const cuda::ProductPoint& product : found.products)
    CHECK(product.flops_per_s() <= machine.gpu.fp16_flops_per_s);
  const machine::Machine old = machine::load_machine("t4-1");
  CHECK(calibrated(old).products.size() == 2 * 6);  // no TF32, no BF16
}

TEST_CASE(
    "what a device has no room for is left out, and what was measured before it is lost kept") {
  const machine::Machine machine = machine::load_machine("h100-sxm-1");
  machine::Machine small = machine;
  small.gpu.memory_bytes = std::int64_t{300} << 20;
  const cuda::Calibration without = calibrated(small);
  CHECK(without.find("pcie.h2d"));
  CHECK_FALSE(without.find("gpu.memory_efficiency"));
  REQUIRE_FALSE(without.left_out.empty());
  CHECK_THAT(without.left_out.front(), Catch::Contains("no room"));

  test::EmulatedOptions options;
  options.costs = &machine;
  options.computes = false;
  options.lost_at = 1500;  // some way into it
  test::EmulatedDevice device(options);
  const cuda::Calibration until = cuda::calibrate(device, small_plan(), 0);
  CHECK(until.find("host.launch_call"));
  CHECK_FALSE(until.find("gpu.gemm_efficiency"));
  CHECK_THAT(until.left_out.back(), Catch::Contains("and what comes after: the GPU was lost"));
}

TEST_CASE("a bench's numbers are repeated over its memory to the last byte") {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20, kBytes = 5 * kPiece / 2 + 4;
  test::EmulatedDevice device;
  cuda::Bench bench(device);
  auto* memory = static_cast<char*>(bench.on_device(kBytes + 4));
  bench.fill(memory, kBytes, program::ElementType::kFp32);
  device.synchronise();
  const std::vector<char> piece = cuda::noise_of(program::ElementType::kFp32, kPiece);
  for (std::int64_t at = 0; at < kBytes; at += kPiece) {
    const std::int64_t bytes = std::min(kPiece, kBytes - at);
    CHECK(std::equal(memory + at, memory + at + bytes, piece.begin()));
  }
  CHECK(std::all_of(memory + kBytes, memory + kBytes + 4, [](char byte) { return byte == 0; }));
}

TEST_CASE("a median and a line are not moved by one disturbed measurement, nor by rounding") {
  CHECK(cuda::summarise({5, 1, 2, 900, 3}).median == 3);
  CHECK(cuda::summarise({}).count == 0);
  CHECK(cuda::summarise({1, 2, 3, 4, 5}).spread == 1);
  const std::vector<cuda::Point> points{{1, 12}, {100, 210}, {10'000, 20'010}};
  const cuda::Line line = cuda::fit_line(points);
  CHECK(line.at_zero == Approx(10));
  CHECK(line.slope == Approx(2));
  CHECK(line.worst < 1e-9);
  const std::vector<cuda::Point> below{{10, 10}, {20, 30}, {40, 70}};
  CHECK(cuda::fit_line(below).at_zero == 0);
}

TEST_CASE("what was measured is written so that the catalogue reads the same machine") {
  const machine::Machine machine = random_machine(7);
  const cuda::Calibration found = calibrated(machine);
  for (const bool is_known : {true, false}) {
    const test::TemporaryFolder folder;
    const auto known = is_known ? std::optional(machine::load_machine("a100-sxm-1")) : std::nullopt;
    const cuda::CalibrationFiles files = cuda::machine_files(
        found, {"2026-11-22", "trainscope calibrate", "SM clock 1410 of 1410 MHz"}, "my-gpu", known,
        "my-gpu.toml");
    write_file(folder.path() / "my-gpu.toml", files.gpu);
    write_file(folder.path() / "my-gpu-1.toml", files.machine);
    machine::check_gpu_file(folder.path() / "my-gpu.toml");
    const machine::Machine read = machine::load_machine((folder.path() / "my-gpu-1.toml").string());
    CHECK(read.host.launch_call_ns == machine.host.launch_call_ns);
    CHECK(read.host.launch_queue == machine.host.launch_queue);
    CHECK(read.gpu.sm_count == machine.gpu.sm_count);
    CHECK(read.gpu.kernel_gap_ns == machine.gpu.kernel_gap_ns);
    CHECK(read.pcie.h2d_bytes_per_s == Approx(machine.pcie.h2d_bytes_per_s).epsilon(0.001));
    CHECK(read.pcie.both_bytes_per_s == Approx(machine.pcie.both_bytes_per_s).epsilon(0.002));
    for (const machine::Figure& figure : read.figures) {
      const auto* measured = found.find(figure.name);
      if (!measured) continue;
      INFO(figure.name);
      CHECK(figure.provenance == machine::Provenance::kMeasured);
      CHECK_THAT(figure.note, Catch::Contains("Emulated GPU, no driver, 2026-11-22, `trainscope "
                                              "calibrate`, SM clock 1410"));
    }
  }
}

TEST_CASE("a device's name makes an id") {
  CHECK(cuda::id_of_device("NVIDIA H100 80GB HBM3") == "nvidia-h100-80gb-hbm3");
  CHECK(cuda::id_of_device("  (GeForce) RTX 4090! ") == "geforce-rtx-4090");
  CHECK(cuda::id_of_device("") == "gpu");
}
