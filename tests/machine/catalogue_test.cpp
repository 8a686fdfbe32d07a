// What the shipped machines must be: complete, consistent with one another, and honest.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/files.h"
#include "machine/machine.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;

namespace {

std::vector<Machine> shipped_machines() {
  std::vector<Machine> machines;
  for (const std::string& id : machine_ids()) machines.push_back(load_machine(id));
  return machines;
}

const Figure& figure_of(const Machine& machine, const std::string& name) {
  for (const Figure& figure : machine.figures)
    if (figure.name == name) return figure;
  throw std::runtime_error(machine.id + " has no figure " + name);
}

// Arithmetic in one clock cycle of one SM, from NVIDIA's whitepapers.
struct PerCycle {
  double fp32;
  double fp16;  // on the tensor cores, dense, FP32 accumulation
};

PerCycle per_cycle(const Gpu& gpu) {
  const bool geforce = gpu.name.find("GeForce") != std::string::npos;
  static const std::map<double, PerCycle> table{
      {7.5, {128, 1024}}, {8.0, {128, 2048}}, {8.9, {256, 1024}}, {9.0, {256, 4096}}};
  PerCycle found = table.at(gpu.compute_capability);
  if (geforce) found.fp16 /= 2;
  return found;
}

// A pageable host-to-device copy as the driver does it: the thread copies one chunk after another
// to pinned buffers, and each crosses the link while the next is copied.
double staged_copy_seconds(const Machine& machine, std::int64_t bytes) {
  const Host& host = machine.host;
  const double last_chunk = static_cast<double>((bytes - 1) % host.staging_chunk_bytes + 1);
  return static_cast<double>(bytes) / host.memcpy_bytes_per_s +
         last_chunk / machine.pcie.h2d_bytes_per_s +
         static_cast<double>(host.copy_call_ns + machine.pcie.h2d_latency_ns) * 1e-9;
}

double staged_bytes_per_s(const Machine& machine, std::int64_t bytes) {
  return static_cast<double>(bytes) / staged_copy_seconds(machine, bytes);
}

}  // namespace

TEST_CASE("every shipped machine and GPU loads") {
  const auto ids = machine_ids();
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  for (const char* id : {"t4-1", "a100-sxm-1", "h100-sxm-1", "h200-1", "rtx4090-1"})
    CHECK(std::count(ids.begin(), ids.end(), id) == 1);
  for (const std::string& id : ids) {
    CAPTURE(id);
    const Machine machine = load_machine(id);
    CHECK(machine.id == id);
    CHECK_FALSE(machine.name.empty());
    CHECK_NOTHROW(check_machine_file(home_folder() / "assets" / "machines" / (id + ".toml")));
  }
  for (const auto& entry : std::filesystem::directory_iterator(home_folder() / "assets" / "gpus")) {
    CAPTURE(entry.path());
    CHECK_NOTHROW(check_gpu_file(entry.path()));
  }
}

TEST_CASE("a machine is read into base units") {
  const Machine machine = load_machine("h200-1");
  CHECK(machine.name == "1 x H200, PCIe 5.0 x16");
  CHECK(machine.gpu.id == "h200");
  CHECK(machine.gpu_count == 1);
  CHECK(machine.gpu.compute_capability == 9.0);
  CHECK(machine.gpu.sm_count == 132);
  CHECK(machine.gpu.shared_bytes_per_sm == 233'472);
  CHECK(machine.gpu.boost_clock_hz == Approx(1.98e9));
  CHECK(machine.gpu.fp16_flops_per_s == Approx(989e12));
  CHECK(machine.gpu.memory_bytes_per_s == Approx(4.8e12));
  CHECK(machine.gpu.kernel_floor_ns == 1'300);
  CHECK(machine.gpu.kernel_gap_ns == 900);
  CHECK(machine.pcie.generation == 5);
  CHECK(machine.pcie.h2d_bytes_per_s == Approx(55.43e9));
  CHECK(machine.pcie.d2h_latency_ns == 1'500);
  CHECK(machine.host.cores == 112);
  CHECK(machine.host.staging_chunk_bytes == 4 * 1024 * 1024);
  CHECK(machine.host.launch_call_ns == 2'500);
  CHECK(machine.host.compiled_operator_ns == 3'800);
}

TEST_CASE("every number of a machine is a figure, once and in the order of the file") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    std::set<std::string> names;
    for (const Figure& figure : machine.figures) CHECK(names.insert(figure.name).second);
    CHECK(machine.figures.size() == 38);
    CHECK(machine.figures.front().name == "gpu.compute_capability");
    CHECK(machine.figures.back().name == "host.compiled_operator");
  }
  const Machine machine = load_machine("h200-1");
  const Figure& bandwidth = figure_of(machine, "gpu.memory_bandwidth");
  CHECK(bandwidth.value == 4800);
  CHECK(bandwidth.unit == "GB/s");
  CHECK(bandwidth.provenance == Provenance::kDatasheet);
  CHECK_THAT(bandwidth.note, Contains("NVIDIA H200 datasheet"));
  CHECK(name_of(figure_of(machine, "pcie.h2d").provenance) == "measured");
  CHECK(name_of(figure_of(machine, "host.launch_latency").provenance) == "fitted");
}

TEST_CASE("a measured or fitted number says where it comes from") {
  for (const Machine& machine : shipped_machines())
    for (const Figure& figure : machine.figures) {
      CAPTURE(machine.id, figure.name);
      if (figure.provenance != Provenance::kDatasheet) CHECK(figure.note.size() > 10);
      CHECK(figure.note.find('\n') == std::string::npos);
      CHECK(figure.note.find("  ") == std::string::npos);
    }
}

TEST_CASE("a peak is SMs times arithmetic a cycle times the clock") {
  // The Hopper datasheets give tensor peaks at a clock below the boost clock.
  const std::map<std::string, double> implied_tensor_hz{{"h100-sxm", 1.829e9}, {"h200", 1.829e9}};
  for (const Machine& machine : shipped_machines()) {
    const Gpu& gpu = machine.gpu;
    CAPTURE(gpu.id);
    const auto exception = implied_tensor_hz.find(gpu.id);
    const bool excepted = exception != implied_tensor_hz.end();
    const double tensor_hz = excepted ? exception->second : gpu.boost_clock_hz;
    const double fp16 = gpu.sm_count * per_cycle(gpu).fp16 * tensor_hz;
    CHECK(gpu.fp32_flops_per_s ==
          Approx(gpu.sm_count * per_cycle(gpu).fp32 * gpu.boost_clock_hz).epsilon(0.01));
    CHECK(gpu.fp16_flops_per_s == Approx(fp16).epsilon(0.01));
    if (excepted) CHECK(tensor_hz < 0.99 * gpu.boost_clock_hz);
    if (gpu.tf32_flops_per_s > 0) CHECK(gpu.tf32_flops_per_s == Approx(fp16 / 2).epsilon(0.01));
    CHECK((gpu.tf32_flops_per_s > 0) == (gpu.compute_capability >= 8.0));
  }
}

TEST_CASE("a link carries most of its raw rate and no more") {
  const std::map<int, double> raw_lane_bytes_per_s{{3, 0.985e9}, {4, 1.969e9}, {5, 3.938e9}};
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Pcie& pcie = machine.pcie;
    const double raw = raw_lane_bytes_per_s.at(pcie.generation) * pcie.lanes;
    for (const double rate : {pcie.h2d_bytes_per_s, pcie.d2h_bytes_per_s}) {
      CHECK(rate < raw);
      CHECK(rate > 0.7 * raw);
    }
    CHECK_THAT(machine.name, Contains("PCIe " + std::to_string(pcie.generation) + ".0 x" +
                                      std::to_string(pcie.lanes)));
  }
}

TEST_CASE("the memory that CUDA reports is near to what is sold") {
  const std::map<std::string, double> sold_gib{
      {"t4", 16}, {"a100-sxm-80", 80}, {"h100-sxm", 80}, {"h200", 141}, {"rtx4090", 24}};
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.gpu.id);
    const auto sold = sold_gib.find(machine.gpu.id);
    if (sold == sold_gib.end()) continue;
    const double share = static_cast<double>(machine.gpu.memory_bytes) / (sold->second * 0x1p30);
    CHECK(share > 0.9);
    CHECK(share <= 1);
  }
}

TEST_CASE("the staging of a DGX A100 makes its pageable copy as slow as it was measured") {
  const Machine machine = load_machine("a100-sxm-1");
  constexpr std::int64_t kBytes = 32'000'000;  // as bandwidthTest copies
  CHECK(staged_bytes_per_s(machine, kBytes) == Approx(10.0e9).epsilon(0.002));
  const double pinned = machine.pcie.h2d_bytes_per_s;
  CHECK(pinned / staged_bytes_per_s(machine, kBytes) == Approx(2.57).epsilon(0.01));
  // The copy engine waits for the thread and never the other way round: two buffers are enough.
  CHECK(pinned > machine.host.memcpy_bytes_per_s);
  CHECK(machine.host.staging_buffers == 2);
}

TEST_CASE("the staging of the T4's host makes a pageable copy of 6 GB/s") {
  const Machine machine = load_machine("t4-1");
  CHECK(staged_bytes_per_s(machine, 32'000'000) == Approx(6.0e9).epsilon(0.002));
}

TEST_CASE("a rate that nobody published is carried over and says so") {
  const double carried = load_machine("a100-sxm-1").host.memcpy_bytes_per_s;
  for (const char* id : {"h100-sxm-1", "h200-1", "rtx4090-1"}) {
    CAPTURE(id);
    const Machine machine = load_machine(id);
    CHECK(machine.host.memcpy_bytes_per_s == carried);
    const Figure& figure = figure_of(machine, "host.memcpy");
    CHECK(figure.provenance == Provenance::kFitted);
    CHECK_THAT(figure.note, Contains("carried over from the DGX A100"));
  }
}

TEST_CASE("launches take what NVIDIA's example of graphs measured") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Nanos kernel = 2'900;
    const Host& host = machine.host;
    CHECK(std::max(host.launch_call_ns, kernel + machine.gpu.kernel_gap_ns) == 3'800);
    CHECK(host.launch_call_ns + host.launch_latency_ns + kernel + host.wake_ns == 9'600);
  }
}
