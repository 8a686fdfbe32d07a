// How GPUs are wired, against what nvidia-smi prints on such machines.
#include "machine/topology.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/temporary_folder.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;

TEST_CASE("a DGX-1 prints its cube of NVLinks as nvidia-smi topo -m does") {
  // PyTorch, benchmarks/distributed/ddp/README.md: the machine of its weak scaling.
  CHECK(topology_matrix(load_machine("dgx1-v100-8")) ==
        "      GPU0  GPU1  GPU2  GPU3  GPU4  GPU5  GPU6  GPU7\n"
        "GPU0  X     NV1   NV1   NV2   NV2   SYS   SYS   SYS\n"
        "GPU1  NV1   X     NV2   NV1   SYS   NV2   SYS   SYS\n"
        "GPU2  NV1   NV2   X     NV2   SYS   SYS   NV1   SYS\n"
        "GPU3  NV2   NV1   NV2   X     SYS   SYS   SYS   NV1\n"
        "GPU4  NV2   SYS   SYS   SYS   X     NV1   NV1   NV2\n"
        "GPU5  SYS   NV2   SYS   SYS   NV1   X     NV2   NV1\n"
        "GPU6  SYS   SYS   NV1   SYS   NV1   NV2   X     NV2\n"
        "GPU7  SYS   SYS   SYS   NV1   NV2   NV1   NV2   X\n");
}

TEST_CASE("every V100 of a DGX-1 has six links, and the rate of all of them") {
  const Machine machine = load_machine("dgx1-v100-8");
  const Topology topology = topology_of(machine);
  for (std::uint32_t gpu = 0; gpu < 8; ++gpu) {
    int links = 0;
    double rate = 0;
    for (const Wire& wire : topology.wires) {
      if (wire.kind != WireKind::kNvlink || (wire.a != gpu && wire.b != gpu)) continue;
      links += wire.links;
      rate += wire.bytes_per_s;
    }
    CHECK(links == 6);
    CHECK(rate == Approx(machine.gpu_link.bytes_per_s));
  }
}

TEST_CASE("any two GPUs on an NVSwitch have all links of one, and on PCIe a host bridge") {
  const Topology wide = topology_of(load_machine("h200-8"));
  CHECK(relation(wide, 0, 7) == "NV18");
  CHECK(path_between(wide, 0, 7).bytes_per_s == Approx(450e9));
  CHECK(path_between(wide, 0, 7).latency_ns == 600);
  CHECK(relation(topology_of(load_machine("a100-sxm-8")), 2, 3) == "NV12");
  CHECK(relation(topology_of(load_machine("b200-8")), 2, 3) == "NV18");
  CHECK(relation(topology_of(load_machine("titan-rtx-2")), 0, 1) == "NV2");
  const Topology narrow = topology_of(load_machine("l40s-4"));
  CHECK(relation(narrow, 0, 3) == "PHB");
  CHECK(path_between(narrow, 0, 3).wires.size() == 2);
  CHECK(path_between(narrow, 0, 3).bytes_per_s == Approx(31.5e9).epsilon(0.001));
}

TEST_CASE("without its NVLinks a DGX-1 is a tree of switches below two processors") {
  Machine machine = load_machine("dgx1-v100-8");
  machine.gpu_link.kind = LinkKind::kPcie;
  const Topology topology = topology_of(machine);
  CHECK(relation(topology, 0, 1) == "PIX");
  CHECK(relation(topology, 0, 2) == "PHB");
  CHECK(relation(topology, 0, 4) == "SYS");
  CHECK(path_between(topology, 0, 1).wires.size() == 2);
  CHECK(path_between(topology, 0, 4).wires.size() == 5);
  CHECK(path_between(topology, 0, 4).bytes_per_s == Approx(10e9));
}

TEST_CASE("a path between nodes crosses the network, and is as wide as one adapter") {
  const Topology topology = topology_of(load_machine("h200-8x2"));
  CHECK(topology.gpus == 16);
  const Path path = path_between(topology, 1, 14);
  CHECK(relation(topology, 1, 14) == "NET");
  CHECK(path.bytes_per_s == Approx(50e9));
  CHECK(path.latency_ns > 2'700);
  CHECK(relation(topology, 8, 9) == "NV18");
}

TEST_CASE("every machine of the catalogue is wired, and a path is the same both ways") {
  for (const std::string& id : machine_ids()) {
    CAPTURE(id);
    const Topology topology = topology_of(load_machine(id));
    CHECK_NOTHROW(check(topology));
    for (int a = 0; a < topology.gpus; ++a)
      for (int b = 0; b < a; ++b) {
        CHECK(path_between(topology, a, b).bytes_per_s == path_between(topology, b, a).bytes_per_s);
        CHECK(path_between(topology, a, b).latency_ns == path_between(topology, b, a).latency_ns);
      }
  }
}

TEST_CASE("wires that cannot be are refused in one sentence that names the places") {
  Topology topology = topology_of(load_machine("l40s-2"));
  Topology empty = topology;
  empty.wires.back().bytes_per_s = 0;
  CHECK_THROWS_WITH(check(empty), Contains("between GPU 1 and host bridge 0 carries nothing"));
  topology.wires.pop_back();
  CHECK_THROWS_WITH(check(topology), Contains("nothing joins GPU 0 and GPU 1"));
  CHECK_THROWS_WITH(path_between(topology, 0, 2), Contains("there is no GPU 2"));
  CHECK_THROWS_WITH(check_ranks(load_machine("l40s-2"), 4, "collective.ranks"),
                    Contains("collective.ranks = 4 cannot be: l40s-2 has 2 GPUs; write at most 2"));
}

TEST_CASE("a file's own links are read, and wrong ones are refused") {
  const test::TemporaryFolder folder;
  const std::string head = "base = \"dgx1-v100-8\"\n[gpu_link]\npairs = ";
  const auto good = folder.write("good.toml", head + "[[0, 1, 3], [1, 2, 3]]\n");
  CHECK(load_machine(good.string()).gpu_link.pairs ==
        std::vector<NvlinkPair>{{0, 1, 3}, {1, 2, 3}});
  const auto refuse = [&](const std::string& pairs) {
    load_machine(folder.write("bad.toml", head + pairs + "\n").string());
  };
  CHECK_THROWS_WITH(refuse("[[0, 1]]"), Contains("bad.toml:3:10: a pair of GPUs is written as"));
  CHECK_THROWS_WITH(refuse("[[0, 8, 1]]"), Contains("two different GPUs of 0 to 7, not 0 and 8"));
  CHECK_THROWS_WITH(refuse("3"), Contains("pairs is a list of GPUs"));
}
