// What the shipped machines must be: complete, consistent with one another, and honest.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "machine/machine.h"
#include "machine/shipped_gpus.h"

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
      {7.0, {128, 1024}}, {7.5, {128, 1024}}, {8.0, {128, 2048}},  {8.6, {256, 1024}},
      {8.9, {256, 1024}}, {9.0, {256, 4096}}, {10.0, {256, 8192}}, {12.0, {256, 1024}}};
  PerCycle found = table.at(gpu.compute_capability);
  if (geforce) found.fp16 /= 2;
  return found;
}

// The clocks that the peaks of a data sheet imply, where that is not the boost clock.
struct ImpliedClocks {
  double fp32_hz;
  double tf32_hz;
  double fp16_hz;
};

ImpliedClocks implied_clocks(const Gpu& gpu) {
  const double boost = gpu.boost_clock_hz;
  static const std::map<std::string, double> tensor_hz{
      {"h100-sxm", 1.829e9}, {"h200", 1.829e9}, {"h100-pcie", 1.619e9}, {"b200", 1.856e9}};
  ImpliedClocks clocks{boost, boost, boost};
  if (const auto found = tensor_hz.find(gpu.id); found != tensor_hz.end())
    clocks.tf32_hz = clocks.fp16_hz = found->second;
  if (gpu.id == "l40s") clocks.fp16_hz = 2.490e9;  // not its TF32
  if (gpu.id == "b200") clocks.fp32_hz = 2.111e9;
  return clocks;
}

// The same back: a chunk crosses the link while the thread copies the one before it out.
double staged_back_bytes_per_s(const Machine& machine, std::int64_t bytes) {
  const Host& host = machine.host;
  const double first_chunk = static_cast<double>(std::min(bytes, host.staging_chunk_bytes));
  const double seconds =
      static_cast<double>(bytes) / host.memcpy_back_bytes_per_s +
      first_chunk / machine.pcie.d2h_bytes_per_s +
      static_cast<double>(host.copy_call_ns + machine.pcie.d2h_latency_ns) * 1e-9;
  return static_cast<double>(bytes) / seconds;
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
  const std::vector<std::string> shipped{
      "t4-1",           "v100-pcie-1",   "v100-sxm-1", "dgx1-v100-8",   "a100-40-pcie-1",
      "a100-80-pcie-1", "a100-sxm-1",    "a100-sxm-8", "a100-40-sxm-1", "l4-1",
      "l40s-1",         "l40s-2",        "l40s-4",     "a6000-1",       "titan-rtx-2",
      "rtx3090-1",      "rtx4090-1",     "rtx5090-1",  "h100-pcie-1",   "h100-sxm-1",
      "h100-sxm-8",     "h200-1",        "h200-8",     "b200-1",        "b200-8",
      "laptop-1",       "dgx1-v100-8x2", "h200-8x2"};
  CHECK_THAT(ids, Catch::UnorderedEquals(shipped));
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
    const bool several = machine.gpu_count > 1;
    const bool nodes = machine.nodes > 1;
    const bool added = machine.gpu_link.nvls_bytes_per_s > 0;
    const bool tree = machine.pcie_tree.sockets > 1;
    const std::size_t l2 = machine.gpu.l2_bytes_per_s > 0 ? 1 : 0;  // often not known
    const std::size_t power = machine.gpu.tdp_watts > 0 ? 1 : 0;    // a laptop's maker chooses it
    const std::size_t fp32 = machine.gpu.fp32_gemm_efficiency > 0 ? 1 : 0;
    const std::size_t rare = l2 + power + fp32;
    const std::size_t figures =
        54 + rare + (several ? 3u : 0u) + (added ? 1u : 0u) + (tree ? 3u : 0u) + (nodes ? 4u : 0u);
    CHECK(machine.figures.size() == figures);
    CHECK(machine.figures.front().name == "gpu.compute_capability");
    CHECK((machine.figures[7].name == "gpu.l2_bandwidth") == (l2 == 1));
    CHECK((machine.figures[8 + l2].name == "gpu.tdp") == (power == 1));
    CHECK(machine.figures[18 + rare].name == "gpu_count");
    CHECK((machine.figures[19 + rare].name == "nodes") == nodes);
    CHECK(machine.figures.back().name == (nodes     ? "network.latency"
                                          : tree    ? "pcie_tree.socket_bandwidth"
                                          : several ? "gpu_link.ring"
                                                    : "host.context"));
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

TEST_CASE("every figure has a meaning, and none but a figure has one") {
  for (const Machine& machine : shipped_machines())
    for (const Figure& figure : machine.figures) {
      CAPTURE(figure.name);
      CHECK(meaning_of(figure.name).size() > 10);
    }
  CHECK(meaning_of("host.memcpy") != meaning_of("host.memcpy_back"));
  CHECK(meaning_of("host") == "");
  CHECK(meaning_of("") == "");
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
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    const PerCycle cycle = per_cycle(gpu);
    const ImpliedClocks clocks = implied_clocks(gpu);
    const double fp16_per_hz = gpu.sm_count * cycle.fp16;
    CHECK(gpu.fp32_flops_per_s == Approx(gpu.sm_count * cycle.fp32 * clocks.fp32_hz).epsilon(0.01));
    CHECK(gpu.fp16_flops_per_s == Approx(fp16_per_hz * clocks.fp16_hz).epsilon(0.01));
    if (gpu.tf32_flops_per_s > 0)
      CHECK(gpu.tf32_flops_per_s == Approx(fp16_per_hz / 2 * clocks.tf32_hz).epsilon(0.01));
  }
}

TEST_CASE("the exceptions to the peaks are exceptions") {
  std::set<std::string> found;
  for (const Gpu& gpu : test::shipped_gpus()) {
    const ImpliedClocks clocks = implied_clocks(gpu);
    for (const double hz : {clocks.fp32_hz, clocks.tf32_hz, clocks.fp16_hz})
      if (std::abs(hz / gpu.boost_clock_hz - 1) > 0.01) found.insert(gpu.id);
  }
  // Published for all five: on an H200 it is that of the H100 SXM, whose chip it is.
  CHECK(found == std::set<std::string>{"b200", "h100-pcie", "h100-sxm", "h200", "l40s"});
  CHECK(test::shipped_gpus().size() == 25);
}

TEST_CASE("a GPU computes faster in fewer bits") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    CHECK(gpu.fp16_flops_per_s > gpu.fp32_flops_per_s);
    CHECK((gpu.tf32_flops_per_s > 0) == (gpu.compute_capability >= 8.0));
    if (gpu.tf32_flops_per_s == 0) continue;
    CHECK(gpu.tf32_flops_per_s > 0.97 * gpu.fp32_flops_per_s);  // a GeForce: the same
    CHECK(gpu.tf32_flops_per_s < gpu.fp16_flops_per_s);
  }
}

TEST_CASE("the SM of a compute capability is the same on all its GPUs") {
  struct Sm {
    int threads, blocks;
    std::int64_t shared_kib;
  };
  const std::map<double, Sm> table{{7.0, {2048, 32, 96}},   {7.5, {1024, 16, 64}},
                                   {8.0, {2048, 32, 164}},  {8.6, {1536, 16, 100}},
                                   {8.9, {1536, 24, 100}},  {9.0, {2048, 32, 228}},
                                   {10.0, {2048, 32, 228}}, {12.0, {1536, 24, 100}}};
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    const Sm sm = table.at(gpu.compute_capability);
    CHECK(gpu.threads_per_sm == sm.threads);
    CHECK(gpu.blocks_per_sm == sm.blocks);
    CHECK(gpu.shared_bytes_per_sm == sm.shared_kib * 1024);
    CHECK(gpu.registers_per_sm == 65'536);
  }
}

TEST_CASE("a GPU is as its published data have it") {
  struct Row {
    const char* id;
    int sm, l2_mib, mhz;
    double fp32, tf32, fp16, memory_gb_per_s;
    int copy_engines;
  };
  // deviceQuery output and data sheets. L2 of the H200 and the B200: as the devices say it; the
  // copy engines of a GPU that nobody published are those of its sister.
  for (const Row& row : {Row{"t4", 40, 4, 1590, 8.1, 0, 65, 320, 3},
                         Row{"v100-sxm2-32", 80, 6, 1530, 15.7, 0, 125, 900, 6},
                         Row{"rtx3090", 82, 6, 1695, 35.6, 35.6, 71, 936, 2},
                         Row{"l4", 58, 48, 2040, 30.3, 60, 121, 300, 2},
                         Row{"rtx4090", 128, 72, 2520, 82.6, 82.6, 165, 1008, 2},
                         Row{"l40s", 142, 96, 2520, 91.6, 183, 362, 864, 2},
                         Row{"rtx6000-ada", 142, 96, 2505, 91.1, 182, 364, 960, 2},
                         Row{"a100-sxm-40", 108, 40, 1410, 19.5, 156, 312, 1555, 3},
                         Row{"a100-sxm-80", 108, 40, 1410, 19.5, 156, 312, 2039, 3},
                         Row{"h100-pcie", 114, 50, 1755, 51, 378, 756, 2039, 3},
                         Row{"h100-sxm", 132, 50, 1980, 67, 494.5, 989, 3350, 3},
                         Row{"h200", 132, 60, 1980, 67, 494.5, 989, 4800, 3},
                         Row{"b200", 148, 126, 1965, 80, 1125, 2250, 8000, 3}}) {
    CAPTURE(row.id);
    const auto gpus = test::shipped_gpus();
    const auto gpu =
        std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& one) { return one.id == row.id; });
    REQUIRE(gpu != gpus.end());
    CHECK(gpu->sm_count == row.sm);
    CHECK(gpu->l2_bytes / (1 << 20) == row.l2_mib);
    CHECK(gpu->boost_clock_hz == Approx(row.mhz * 1e6));
    CHECK(gpu->fp32_flops_per_s == Approx(row.fp32 * 1e12));
    CHECK(gpu->tf32_flops_per_s == Approx(row.tf32 * 1e12));
    CHECK(gpu->fp16_flops_per_s == Approx(row.fp16 * 1e12));
    CHECK(gpu->memory_bytes_per_s == Approx(row.memory_gb_per_s * 1e9));
    CHECK(gpu->copy_engines == row.copy_engines);
  }
}

TEST_CASE("GPUs that are easily taken for one another differ") {
  std::map<std::string, Gpu> gpus;
  for (Gpu& gpu : test::shipped_gpus()) gpus[gpu.id] = gpu;
  CHECK(gpus.at("l4").sm_count == 58);
  CHECK(gpus.at("a10").sm_count == 72);
  CHECK(gpus.at("a6000").memory_bytes_per_s == Approx(768e9));
  CHECK(gpus.at("rtx6000-ada").memory_bytes_per_s == Approx(960e9));
  CHECK(gpus.at("a100-pcie-40").memory_bytes_per_s < gpus.at("a100-pcie-80").memory_bytes_per_s);
  CHECK(gpus.at("a100-pcie-80").memory_bytes_per_s < gpus.at("a100-sxm-80").memory_bytes_per_s);
  CHECK(gpus.at("h100-pcie").sm_count < gpus.at("h100-sxm").sm_count);
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
    CHECK(pcie.h2d_latency_ns > 0);
    CHECK(pcie.d2h_latency_ns > 0);
    CHECK_THAT(machine.name, Contains("PCIe " + std::to_string(pcie.generation) + ".0 x" +
                                      std::to_string(pcie.lanes)));
  }
}

TEST_CASE("the memory that CUDA reports is near to what is sold") {
  const std::map<std::string, double> sold_gib{{"t4", 16},
                                               {"v100-sxm2-32", 32},
                                               {"v100-pcie-16", 16},
                                               {"v100-pcie-32", 32},
                                               {"titan-rtx", 24},
                                               {"a100-sxm-40", 40},
                                               {"a100-sxm-80", 80},
                                               {"a100-pcie-40", 40},
                                               {"a100-pcie-80", 80},
                                               {"a10", 24},
                                               {"a6000", 48},
                                               {"rtx3060", 12},
                                               {"rtx3080", 10},
                                               {"rtx3090", 24},
                                               {"l4", 24},
                                               {"l40s", 48},
                                               {"rtx6000-ada", 48},
                                               {"rtx4070-ti", 12},
                                               {"rtx4060-laptop", 8},
                                               {"rtx4090", 24},
                                               {"rtx5090", 32},
                                               {"h100-pcie", 80},
                                               {"h100-sxm", 80},
                                               {"h200", 141},
                                               {"b200", 180}};
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    const double share = static_cast<double>(gpu.memory_bytes) / (sold_gib.at(gpu.id) * 0x1p30);
    CHECK(share > 0.9);
    CHECK(share <= 1);
  }
}

TEST_CASE("of every GPU it is known how fast its L2 is, a few times its memory") {
  for (const Gpu& gpu : test::shipped_gpus()) {
    CAPTURE(gpu.id);
    CHECK(gpu.l2_bytes_per_s > 1.5 * gpu.memory_bytes_per_s);
    CHECK(gpu.l2_bytes_per_s < 9 * gpu.memory_bytes_per_s);
    // An SM's port to L2 carries 64 bytes a cycle.
    CHECK(gpu.l2_bytes_per_s < 72.0 * gpu.sm_count * gpu.boost_clock_hz);
  }
}

TEST_CASE("a CUDA context takes some hundred megabytes of a GPU, with CUDA 10 a whole gigabyte") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const bool old = machine.id.find("v100") != std::string::npos || machine.id == "titan-rtx-2";
    CHECK(machine.host.context_bytes == (old ? std::int64_t{1005} << 20 : 400'000'000));
    CHECK(room_of_allocator(machine) == machine.gpu.memory_bytes - machine.host.context_bytes);
  }
}

TEST_CASE("every cost of a host is there, and pageable memory is the slow one") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Host& host = machine.host;
    for (const Nanos cost : {host.launch_call_ns, host.copy_call_ns, host.event_call_ns,
                             host.sync_call_ns, host.launch_latency_ns, host.wake_ns,
                             host.eager_operator_ns, host.compiled_operator_ns}) {
      CHECK(cost > 0);
      CHECK(cost < 100'000);
    }
    for (const Nanos cost : {host.malloc_call_ns, host.free_call_ns}) {
      CHECK(cost > host.launch_call_ns);
      CHECK(cost < 15'000'000);
    }
    CHECK(host.compiled_operator_ns < host.eager_operator_ns);
    CHECK(host.cores >= 1);
    // A thread that copies reads and writes, and one thread does not saturate a socket.
    CHECK(2 * host.memcpy_bytes_per_s < host.memory_bytes_per_s);
    for (const double rate : {machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s}) {
      CHECK(host.memcpy_bytes_per_s < 0.6 * rate);
      CHECK(rate < machine.gpu.memory_bytes_per_s);
    }
    CHECK(staged_bytes_per_s(machine, 32'000'000) < host.memcpy_bytes_per_s);
  }
}

TEST_CASE("an id ends in its number of GPUs, and of nodes where there are several") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const std::string count = std::to_string(machine.gpu_count);
    const std::string nodes = std::to_string(machine.nodes);
    const bool several = machine.nodes > 1;
    CHECK(machine.id.substr(machine.id.rfind('-') + 1) == (several ? count + "x" + nodes : count));
    CHECK_THAT(machine.name, Contains(count + " x "));
    CHECK((machine.name.find(nodes + " nodes of ") == 0) == several);
    CHECK(gpus_in_words(machine) == (several ? nodes + " x " + count : count));
    CHECK(all_gpus(machine) == machine.gpu_count * machine.nodes);
  }
}

TEST_CASE("two nodes are two of the machine of one, joined by a network") {
  struct Joined {
    const char* one;
    int adapters;
    double bytes_per_s;
  };
  const std::map<std::string, Joined> expected{{"dgx1-v100-8x2", {"dgx1-v100-8", 4, 50e9}},
                                               {"h200-8x2", {"h200-8", 8, 400e9}}};
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const auto joined = expected.find(machine.id);
    CHECK((joined != expected.end()) == (machine.nodes > 1));
    if (joined == expected.end()) {
      CHECK(machine.nodes == 1);
      CHECK(machine.network.bytes_per_s == 0);
      CHECK(machine.network.adapters == 0);
      CHECK(machine.network.latency_ns == 0);
      continue;
    }
    CHECK(machine.nodes == 2);
    CHECK(all_gpus(machine) == 16);
    CHECK(machine.network.adapters == joined->second.adapters);
    CHECK(machine.network.bytes_per_s == Approx(joined->second.bytes_per_s));
    CHECK(machine.network.latency_ns == 2'700);
    // The wires between the nodes are fewer than those within one.
    CHECK(machine.network.bytes_per_s < machine.gpu_link.bytes_per_s * machine.gpu_count);
    const Machine one = load_machine(joined->second.one);
    CHECK(machine.gpu.id == one.gpu.id);
    CHECK(machine.gpu_count == one.gpu_count);
    CHECK(machine.gpu_link.bytes_per_s == one.gpu_link.bytes_per_s);
    CHECK(machine.host.cores == one.host.cores);
  }
}

TEST_CASE("several GPUs are joined as the maker says, and one is joined to none") {
  struct Joined {
    LinkKind kind;
    double bytes_per_s;
  };
  const std::map<std::string, Joined> expected{
      {"dgx1-v100-8x2", {LinkKind::kNvlink, 150e9}}, {"h200-8x2", {LinkKind::kNvswitch, 450e9}},
      {"dgx1-v100-8", {LinkKind::kNvlink, 150e9}},   {"titan-rtx-2", {LinkKind::kNvlink, 50e9}},
      {"a100-sxm-8", {LinkKind::kNvswitch, 300e9}},  {"h100-sxm-8", {LinkKind::kNvswitch, 450e9}},
      {"h200-8", {LinkKind::kNvswitch, 450e9}},      {"b200-8", {LinkKind::kNvswitch, 900e9}},
      {"l40s-2", {LinkKind::kPcie, 31.5e9}},         {"l40s-4", {LinkKind::kPcie, 31.5e9}}};
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const GpuLink& link = machine.gpu_link;
    const auto joined = expected.find(machine.id);
    CHECK((joined != expected.end()) == (machine.gpu_count > 1));
    if (joined == expected.end()) {
      CHECK(link.kind == LinkKind::kNone);
      CHECK(link.bytes_per_s == 0);
      CHECK_FALSE(link.peer_to_peer);
      continue;
    }
    CHECK(name_of(link.kind) == name_of(joined->second.kind));
    CHECK(link.bytes_per_s == Approx(joined->second.bytes_per_s));
    CHECK(link.peer_to_peer);
    CHECK(link.bytes_per_s > machine.pcie.h2d_bytes_per_s);
    CHECK(figure_of(machine, "gpu_link.peer_to_peer").value == 1);
    const bool wired = link.kind != LinkKind::kPcie;
    CHECK((machine.name.find("NV") != std::string::npos) == wired);
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
  CHECK(staged_back_bytes_per_s(machine, kBytes) == Approx(10.8e9).epsilon(0.002));
}

TEST_CASE("a laptop copies pageable memory as slowly as it was measured, both ways") {
  const Machine machine = load_machine("laptop-1");
  CHECK(staged_bytes_per_s(machine, 32'000'000) == Approx(3.2e9).epsilon(0.002));
  CHECK(staged_back_bytes_per_s(machine, 32'000'000) == Approx(3.0e9).epsilon(0.002));
}

TEST_CASE("the two directions of a link together carry less than each alone, added") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Pcie& pcie = machine.pcie;
    CHECK(pcie.both_bytes_per_s >= std::max(pcie.h2d_bytes_per_s, pcie.d2h_bytes_per_s));
    CHECK(pcie.both_bytes_per_s < pcie.h2d_bytes_per_s + pcie.d2h_bytes_per_s);
  }
  CHECK(load_machine("a100-sxm-8").pcie.both_bytes_per_s == Approx(2 * 18.6e9));
  const Machine h100 = load_machine("h100-sxm-1");  // as an H800: 52.8 + 34.4 of 55.3 + 55.1
  CHECK(h100.pcie.both_bytes_per_s / (h100.pcie.h2d_bytes_per_s + h100.pcie.d2h_bytes_per_s) ==
        Approx(87.2 / 110.4).epsilon(0.002));
}

TEST_CASE("a disk is slower than memory, and one read takes longer than a launch") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const Host& host = machine.host;
    CHECK(host.disk_bytes_per_s > 0.1e9);
    CHECK(host.disk_bytes_per_s < host.memory_bytes_per_s / 2);
    CHECK(host.disk_latency_ns > 10'000);
    CHECK(host.disk_latency_ns <= 1'000'000);
  }
  CHECK(load_machine("a100-40-sxm-1").host.disk_bytes_per_s ==
        Approx(load_machine("a100-sxm-8").host.disk_bytes_per_s / 2));  // four drives and eight
}

TEST_CASE("what the host's software costs is the same part of an operator everywhere") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    CHECK(machine.host.interpreter_call_ns * 2 == machine.host.eager_operator_ns);
    CHECK(machine.host.launch_queue == 1024);
    CHECK(machine.host.worker_start_ns == 310'000'000);
  }
}

TEST_CASE("the staging of the T4's host makes a pageable copy of 6 GB/s") {
  const Machine machine = load_machine("t4-1");
  CHECK(staged_bytes_per_s(machine, 32'000'000) == Approx(6.0e9).epsilon(0.002));
}

TEST_CASE("a rate that nobody published is carried over and says so") {
  const double carried = load_machine("a100-sxm-1").host.memcpy_bytes_per_s;
  for (const char* id : {"h100-sxm-1", "h100-pcie-1", "h200-1", "b200-8", "rtx3090-1", "rtx4090-1",
                         "rtx5090-1", "l4-1", "l40s-4", "a6000-1", "a100-40-pcie-1"}) {
    CAPTURE(id);
    const Machine machine = load_machine(id);
    CHECK(machine.host.memcpy_bytes_per_s == carried);
    const Figure& figure = figure_of(machine, "host.memcpy");
    CHECK(figure.provenance == Provenance::kFitted);
    CHECK_THAT(figure.note, Contains("carried over from the DGX A100"));
  }
}

TEST_CASE("an A100 PCIe stages as slowly as a published benchmark of loaders says") {
  // Ten batches of 100 MiB: 0.65 s from pageable memory, 0.522 from pinned.
  const Machine machine = load_machine("a100-80-pcie-1");
  constexpr std::int64_t kBatch = 100 << 20;
  const double pinned = static_cast<double>(kBatch) / machine.pcie.h2d_bytes_per_s;
  CHECK(10 * (staged_copy_seconds(machine, kBatch) - pinned) == Approx(0.13).epsilon(0.15));
  CHECK_THAT(figure_of(machine, "host.memcpy").note, Contains("pin-memory-non-block-bench.py"));
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

TEST_CASE("a V100 starts the kernels of a graph as fast as NVIDIA's example") {
  for (const char* id : {"v100-sxm-1", "v100-pcie-1", "dgx1-v100-8", "dgx1-v100-8x2"}) {
    CAPTURE(id);
    const Machine machine = load_machine(id);
    CHECK(2'900 + machine.gpu.kernel_gap_ns == 3'400);
    CHECK(machine.host.launch_call_ns == 3'800);
  }
}
