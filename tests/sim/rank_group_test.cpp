// What joins the GPUs of a group: those of a node, one of each node, and groups that share a node.
#include "sim/collectives/rank_group.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "sim/collectives/collective_model.h"

using namespace trainscope;
using namespace trainscope::sim;
using program::CollectiveKind;

namespace {

// So many groups alike of these GPUs.
program::Communicator alike(std::vector<int> gpus, int groups, int apart) {
  program::Communicator group;
  group.name = "group";
  group.ranks = static_cast<int>(gpus.size());
  group.gpus = std::move(gpus);
  group.groups = groups;
  group.apart = apart;
  return group;
}

program::Communicator all_of(int ranks) {
  program::Communicator group;
  group.name = "default process group";
  group.ranks = ranks;
  return group;
}

double ring_of(const char* machine, const program::Communicator& communicator) {
  return group_of(machine::load_machine(machine), communicator).ring;
}

Nanos time_of(const char* machine, const program::Communicator& communicator, CollectiveKind kind,
              std::int64_t bytes) {
  return plan_collective(machine::load_machine(machine), communicator, kind, bytes).duration;
}

}  // namespace

TEST_CASE("groups of a GPU in each node share its adapters, and together have all of them") {
  // 400 GB/s and 8 adapters for 8 GPUs; 50 GB/s and 4; 0.96 of that.
  const double within = machine::load_machine("h200-8x2").gpu_link.ring_bytes_per_s / 1e9;
  CHECK(ring_of("h200-8x2", all_of(16)) == Approx(std::min(within, 0.96 * 400)));
  CHECK(ring_of("dgx1-v100-8x2", all_of(16)) == Approx(0.96 * 50));
  for (const int first : {0, 3, 7})
    CHECK(ring_of("h200-8x2", alike({first, first + 8}, 8, 1)) == Approx(0.96 * 50));
  CHECK(ring_of("dgx1-v100-8x2", alike({0, 8}, 8, 1)) == Approx(0.96 * 50 / 8));
}

TEST_CASE("a group alone has the adapters of its own GPUs, and no others") {
  CHECK(ring_of("h200-8x2", alike({0, 8}, 1, 0)) == Approx(0.96 * 50));
  CHECK(ring_of("dgx1-v100-8x2", alike({0, 8}, 1, 0)) == Approx(0.96 * 50 / 4));
}

TEST_CASE("groups of several GPUs in each node share its adapters, too") {
  CHECK(ring_of("h200-8x2", alike({0, 4, 8, 12}, 4, 1)) == Approx(0.96 * 400 / 4));
  CHECK(ring_of("h200-8x2", alike({0, 2, 4, 6, 8, 10, 12, 14}, 2, 1)) == Approx(0.96 * 400 / 2));
}

TEST_CASE("GPUs reach the network's adapters over their own PCIe lanes") {
  machine::Machine machine = machine::load_machine("h200-8x2");
  machine.pcie.h2d_bytes_per_s /= 8;
  machine.pcie.d2h_bytes_per_s /= 8;
  const double lanes = machine.pcie.d2h_bytes_per_s / 1e9;
  CHECK(group_of(machine, all_of(16)).ring == Approx(8 * lanes));
  CHECK(group_of(machine, alike({3, 11}, 8, 1)).ring == Approx(lanes));
}

TEST_CASE("a GPU in each node has no NVLink to another, and every hop is the network's") {
  const machine::Machine machine = machine::load_machine("h200-8x2");
  CHECK_FALSE(group_of(machine, alike({0, 8}, 8, 1)).nvlink);
  CHECK(group_of(machine, alike({0, 4, 8, 12}, 4, 1)).nvlink);
  program::Communicator ring = alike({0, 8}, 8, 1);
  ring.algorithm = "ring";
  // Ring, LL: base + 2 (n - 1) hops between nodes.
  CHECK(
      static_cast<double>(plan_collective(machine, ring, CollectiveKind::kAllReduce, 8).duration) ==
      Approx(6600 + 2 * 2700).epsilon(0.001));
}

TEST_CASE("a group within a node takes what it takes without the other nodes") {
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter})
    for (const std::int64_t bytes : {1 << 12, 1 << 20, 1 << 28}) {
      CHECK(time_of("h200-8x2", alike({0, 1, 2, 3, 4, 5, 6, 7}, 2, 8), kind, bytes) ==
            time_of("h200-8", all_of(8), kind, bytes));
      CHECK(time_of("h200-8x2", alike({0, 1, 2, 3}, 4, 4), kind, bytes) ==
            time_of("h200-8", all_of(4), kind, bytes));
    }
}

TEST_CASE("on a mesh of NVLinks the group with the fewest decides for all that are alike") {
  // Between GPUs 0 and 1 there is one link, between 2 and 3 there are two.
  const double one = ring_of("dgx1-v100-8", alike({0, 1}, 1, 0));
  CHECK(ring_of("dgx1-v100-8", alike({2, 3}, 1, 0)) == Approx(2 * one));
  CHECK(ring_of("dgx1-v100-8", alike({0, 1}, 4, 2)) == Approx(one));
  CHECK(ring_of("dgx1-v100-8", alike({2, 3}, 4, 2)) == Approx(one));
}

TEST_CASE("whatever group of those alike is asked, it takes as long") {
  for (const char* machine : {"h200-8x2", "dgx1-v100-8x2"})
    for (const int degree : {1, 2, 4, 8}) {
      std::vector<int> shards, replicas;
      for (int gpu = 0; gpu < degree; ++gpu) shards.push_back(gpu);
      for (int gpu = 0; gpu < 16; gpu += degree) replicas.push_back(gpu);
      for (const program::Communicator& first :
           {alike(shards, 16 / degree, degree), alike(replicas, degree, 1)})
        for (int number = 1; number < first.groups; ++number) {
          CAPTURE(machine, degree, number);
          CHECK(time_of(machine, first.group(number), CollectiveKind::kAllReduce, 1 << 24) ==
                time_of(machine, first, CollectiveKind::kAllReduce, 1 << 24));
        }
    }
}
