// What the shipped machines must be: complete, consistent with one another, and honest.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "base/files.h"
#include "machine/figures.h"
#include "machine/machine.h"
#include "machine/shipped_machines.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;
using test::figure_of;
using test::shipped_machines;

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

TEST_CASE("every figure has a name and a meaning, and none but a figure has one") {
  for (const Machine& machine : shipped_machines())
    for (const Figure& figure : machine.figures) {
      CAPTURE(figure.name);
      CHECK(meaning_of(figure.name).size() > 10);
      CHECK_FALSE(short_name_of(figure.name).empty());
      CHECK(figure_name(figure.name) == short_name_of(figure.name));
    }
  CHECK(meaning_of("host.memcpy") != meaning_of("host.memcpy_back"));
  CHECK(meaning_of("host") == "");
  CHECK(meaning_of("") == "");
  CHECK(short_name_of("host") == "");
  CHECK(figure_name("disk_array.read_rate") == "read rate");
}

TEST_CASE("a figure is written in one way wherever it stands") {
  const auto written = [](const char* name, double value, const char* unit) {
    return value_of({name, value, unit, Provenance::kDatasheet, ""});
  };
  CHECK(written("gpu.memory_bandwidth", 4800, "GB/s") == "4800 GB/s");
  CHECK(written("gpu.registers_per_sm", 65536, "") == "65,536");
  CHECK(written("gpu.l2_bandwidth", 10138, "GB/s") == "10,138 GB/s");
  CHECK(written("host.launch_queue", 1234567, "1") == "1,234,567");
  CHECK(written("pcie.h2d", 55.43, "GB/s") == "55.43 GB/s");
  CHECK(written("gpu.memory", 143156, "MiB") == "140 GiB");
  CHECK(written("host.staging_chunk", 65536, "B") == "64 KiB");
  CHECK(written("gpu.l2", 60, "MiB") == "60 MiB");
  CHECK(written("gpu.compute_capability", 9, "") == "9.0");
  CHECK(written("gpu_link.peer_to_peer", 1, "") == "yes");
  CHECK(written("disk_array.peer_to_peer", 1, "") == "1");
  CHECK(written("gpu.memory_efficiency", 92.5, "%") == "92.5%");
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

TEST_CASE("a CUDA context takes some hundred megabytes of a GPU, with CUDA 10 a whole gigabyte") {
  for (const Machine& machine : shipped_machines()) {
    CAPTURE(machine.id);
    const bool old = machine.id.find("v100") != std::string::npos || machine.id == "titan-rtx-2";
    CHECK(machine.host.context_bytes == (old ? std::int64_t{1005} << 20 : 400'000'000));
    CHECK(room_of_allocator(machine) == machine.gpu.memory_bytes - machine.host.context_bytes);
  }
}
