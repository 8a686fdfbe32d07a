// Machine files that start from a shipped machine, or another of one's own, and change it.
#include <algorithm>
#include <catch2/catch.hpp>

#include "machine/machine.h"
#include "machine/machine_folder.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Equals;
using namespace trainscope::test;

TEST_CASE("a file starts from a shipped machine and changes what it names") {
  const MachineFolder folder;
  const auto file = folder.write("my.toml",
                                 "base = \"h200-1\"\nsource = \"measured\"\nnote = \"at home\"\n"
                                 "[gpu]\ngemm_efficiency = 0.7\n[pcie]\nlanes = 8\n"
                                 "h2d = { value = 27, unit = \"GB/s\", source = \"fitted\", note = "
                                 "\"half\" }\n");
  const Machine base = load_machine("h200-1");
  const Machine mine = load_machine(file.string());
  CHECK(mine.id == "my");
  CHECK(mine.name == "1 x H200, PCIe 5.0 x16 (my)");
  CHECK(mine.gpu.id == "h200");
  CHECK(mine.gpu.gemm_efficiency == 0.7);
  CHECK(mine.gpu.sm_count == base.gpu.sm_count);
  CHECK(mine.pcie.lanes == 8);
  CHECK(mine.pcie.h2d_bytes_per_s == Approx(27e9));
  CHECK(mine.pcie.d2h_bytes_per_s == base.pcie.d2h_bytes_per_s);
  CHECK(mine.host.wake_ns == base.host.wake_ns);
  REQUIRE(mine.figures.size() == base.figures.size());
  int changed = 0;
  for (std::size_t i = 0; i < mine.figures.size(); ++i) {
    CHECK(mine.figures[i].name == base.figures[i].name);
    if (mine.figures[i].note == base.figures[i].note) continue;
    ++changed;
    if (mine.figures[i].name == "pcie.both") continue;
    const bool half = mine.figures[i].name == "pcie.h2d";
    CHECK(mine.figures[i].note == (half ? "half" : "at home"));
    CHECK(mine.figures[i].provenance == (half ? Provenance::kFitted : Provenance::kMeasured));
  }
  CHECK(changed == 4);
}

TEST_CASE("a file changes the GPU of the machine that it starts from") {
  const MachineFolder folder;
  const auto file = folder.write("my.toml", "base = \"h200-1\"\nname = \"mine\"\ngpu = \"t4\"\n");
  const Machine mine = load_machine(file.string());
  CHECK(mine.name == "mine");
  CHECK(mine.gpu.id == "t4");
  CHECK(mine.gpu.sm_count == 40);
  CHECK(mine.pcie.generation == 5);
  CHECK(mine.gpu.fp32_gemm_efficiency == load_machine("t4-1").gpu.fp32_gemm_efficiency);
  CHECK(mine.gpu.l2_bytes_per_s == load_machine("t4-1").gpu.l2_bytes_per_s);
  CHECK(mine.figures.size() == load_machine("h200-1").figures.size());
  CHECK(mine.figures.front().name == "gpu.compute_capability");
  CHECK(mine.figures.front().value == 7.5);
}

TEST_CASE("a GPU of one's own lies beside the machine file") {
  const MachineFolder folder;
  folder.write("my-gpu.toml", replaced(shipped("gpus", "t4"), "id = \"t4\"", "id = \"my-gpu\""));
  CHECK(folder.refusal("base = \"t4-1\"\ngpu = \"my-gpu.toml\"\n").empty());
  CHECK_THAT(folder.refusal("base = \"t4-1\"\ngpu = \"none.toml\"\n"),
             Equals("none.toml: there is no such file"));
}

TEST_CASE("a file that changes one direction of a link keeps the share of both") {
  const MachineFolder folder;
  const auto load = [&](const std::string& rates) {
    return load_machine(
        folder.write("my.toml", "base = \"h200-1\"\nsource = \"datasheet\"\n[pcie]\n" + rates)
            .string());
  };
  const Pcie base = load_machine("h200-1").pcie;
  const Machine half = load(
      "h2d = { value = 27.715, unit = \"GB/s\" }\n"
      "d2h = { value = 27.53, unit = \"GB/s\" }\n");
  CHECK(half.pcie.both_bytes_per_s == Approx(base.both_bytes_per_s / 2));
  const auto both = std::find_if(half.figures.begin(), half.figures.end(),
                                 [](const Figure& one) { return one.name == "pcie.both"; });
  REQUIRE(both != half.figures.end());
  CHECK(both->value == Approx(87.3 / 2));
  CHECK(both->unit == "GB/s");
  CHECK(both->provenance == Provenance::kFitted);
  CHECK(both->note == "follows pcie.h2d and pcie.d2h as on h200-1");
  // Never less than the faster direction alone.
  const Machine uneven = load("d2h = { value = 5, unit = \"GB/s\" }\n");
  CHECK(uneven.pcie.both_bytes_per_s == Approx(55.43e9));
}

TEST_CASE("a file changes one number of the link that it starts from") {
  const MachineFolder folder;
  const auto file = folder.write(
      "my.toml",
      "base = \"h200-8\"\n[gpu_link]\nbandwidth = { value = 400, unit = \"GB/s\", source = "
      "\"measured\", note = \"at home\" }\n");
  const Machine mine = load_machine(file.string());
  CHECK(mine.gpu_count == 8);
  CHECK(mine.gpu_link.kind == LinkKind::kNvswitch);
  CHECK(mine.gpu_link.bytes_per_s == Approx(400e9));
  CHECK(mine.gpu_link.peer_to_peer);
  CHECK(mine.figures.size() == load_machine("h200-8").figures.size());
}

TEST_CASE("a file may change the number of nodes that it starts from") {
  const MachineFolder folder;
  const auto load = [&](const std::string& nodes) {
    return load_machine(
        folder
            .write("my.toml",
                   "base = \"h200-8x2\"\nsource = \"datasheet\"\nnodes = " + nodes + "\n")
            .string());
  };
  const Machine four = load("4");
  CHECK(all_gpus(four) == 32);
  CHECK(four.network.adapters == 8);
  CHECK(four.figures.size() == load_machine("h200-8x2").figures.size());
  const Machine one = load("1");
  CHECK(one.nodes == 1);
  CHECK(one.network.bytes_per_s == 0);
  CHECK(one.figures.size() == load_machine("h200-8").figures.size());
}

TEST_CASE("a file of one's own may start from any machine") {
  const MachineFolder folder;
  for (const std::string& id : machine_ids()) {
    CAPTURE(id);
    const auto file = folder.write(
        "my.toml",
        "base = \"" + id +
            "\"\nname = \"mine\"\n[host]\ncores = { value = 3, source = \"datasheet\" }\n");
    const Machine mine = load_machine(file.string());
    const Machine base = load_machine(id);
    CHECK(mine.name == "mine");
    CHECK(mine.host.cores == 3);
    CHECK(mine.gpu.id == base.gpu.id);
    CHECK(all_gpus(mine) == all_gpus(base));
    CHECK(mine.figures.size() == base.figures.size());
    CHECK(mine.pcie.both_bytes_per_s == base.pcie.both_bytes_per_s);
  }
}

TEST_CASE("a machine without a name of its own is called after its base, with its own counts") {
  const MachineFolder folder;
  const auto name_of = [&](const std::string& text) {
    return load_machine(folder.write("my.toml", text).string()).name;
  };
  CHECK(name_of("base = \"a100-sxm-8\"\ngpu_count = { value = 4, source = \"datasheet\" }\n") ==
        "4 x A100 SXM 80 GB, NVSwitch, PCIe 4.0 x16 (my)");
  const std::string nodes =
      "nodes = { value = 8, source = \"datasheet\" }\n"
      "[network]\nbandwidth = { value = 400, unit = \"GB/s\", source = \"datasheet\" }\n"
      "adapters = { value = 8, source = \"datasheet\" }\n"
      "latency = { value = 3, unit = \"us\", source = \"datasheet\" }\n";
  CHECK(name_of("base = \"h100-sxm-8\"\n" + nodes) ==
        "8 nodes of 8 x H100 SXM, NVSwitch, PCIe 5.0 x16 (my)");
  CHECK(name_of("base = \"h100-sxm-8\"\nname = \"a pod\"\n" + nodes) == "a pod");
  folder.write("named.toml", "base = \"a100-sxm-8\"\nname = \"our box\"\n");
  CHECK(name_of("base = \"named.toml\"\ngpu_count = { value = 2, source = \"datasheet\" }\n") ==
        "our box (my)");
}
