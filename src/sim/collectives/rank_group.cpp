#include "sim/collectives/rank_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "machine/topology.h"
#include "sim/peer_link.h"

namespace trainscope::sim {

int nodes_of(const machine::Machine& machine, const program::Communicator& communicator) {
  std::set<int> nodes;
  for (int rank = 0; rank < communicator.ranks; ++rank)
    nodes.insert(communicator.gpu_of(rank) / machine.gpu_count);
  return static_cast<int>(nodes.size());
}

int groups_in_node(const machine::Machine& machine, const program::Communicator& communicator,
                   int node) {
  int count = 0;
  for (int number = 0; number < communicator.groups; ++number) {
    bool there = false;
    for (int rank = 0; rank < communicator.ranks && !there; ++rank)
      there = communicator.gpu_of(rank, number) / machine.gpu_count == node;
    count += there ? 1 : 0;
  }
  return count;
}

namespace {

// What one ring carries: the rate at which NCCL's search finds as many as it logs, by architecture
// (nccl: src/graph/search.cc; "12 coll channels" on a DGX-1, 24 on H100, 2 over PCIe). Of Blackwell
// assumed.
double ring_rate_of(const machine::Gpu& gpu, bool nvlink) {
  if (!nvlink) return 12.0;
  if (gpu.compute_capability >= 10) return 90.0;
  if (gpu.compute_capability >= 9) return 30.0;
  return gpu.compute_capability == 8.6 ? 12.0 : 20.0;
}

constexpr int kChannelsARing = 2;    // nccl: src/graph/connect.cc, which duplicates rings
constexpr double kLacking = 0.4;     // of a ring, in what was measured
constexpr double kOfNetwork = 0.96;  // 12 GB/s of an adapter of 100 Gb/s (nccl: src/graph/topo.h)

int first_node(const machine::Machine& machine, const program::Communicator& communicator) {
  return communicator.gpu_of(0) / machine.gpu_count;
}

// Of one of the groups that are alike, its GPUs in the node of its first one, by their number
// there.
std::vector<int> members_in_node(const machine::Machine& machine,
                                 const program::Communicator& communicator, int number) {
  const int node = communicator.gpu_of(0, number) / machine.gpu_count;
  std::vector<int> members;
  for (int rank = 0; rank < communicator.ranks; ++rank)
    if (const int gpu = communicator.gpu_of(rank, number); gpu / machine.gpu_count == node)
      members.push_back(gpu % machine.gpu_count);
  return members;
}

// Of the NVLinks of the busiest GPU, those that lead to other members: the rings of a part of a
// mesh have no others. 0: some member has none.
double share_of_links(const machine::Machine& machine, const std::vector<int>& members) {
  const std::vector<machine::NvlinkPair>& pairs = machine.gpu_link.pairs;
  if (pairs.empty())
    return static_cast<double>(members.size() - 1) / static_cast<double>(machine.gpu_count - 1);
  std::vector<int> all(static_cast<std::size_t>(machine.gpu_count), 0), within = all;
  const auto is_member = [&](int gpu) { return std::ranges::find(members, gpu) != members.end(); };
  for (const machine::NvlinkPair& pair : pairs)
    for (const int gpu : {pair.a, pair.b}) {
      all[static_cast<std::size_t>(gpu)] += pair.links;
      if (is_member(pair.a) && is_member(pair.b))
        within[static_cast<std::size_t>(gpu)] += pair.links;
    }
  int least = *std::ranges::max_element(all);
  for (const int gpu : members) least = std::min(least, within[static_cast<std::size_t>(gpu)]);
  return static_cast<double>(least) / *std::ranges::max_element(all);
}

// Groups that are alike wait for one another, if not here then a step later: the one with the
// fewest links tells.
double least_share_of_links(const machine::Machine& machine,
                            const program::Communicator& communicator) {
  double least = 1;
  for (int number = 0; number < communicator.groups; ++number)
    least =
        std::min(least, share_of_links(machine, members_in_node(machine, communicator, number)));
  return least;
}

double pcie_ring(const machine::Machine& machine) {
  if (machine.gpu_link.kind == machine::LinkKind::kPcie) return machine.gpu_link.ring_bytes_per_s;
  return machine::link_without_nvlinks(machine).ring_bytes_per_s;
}

// What a node's adapters carry for so many of its GPUs: each has those that are its own, or its
// nearest, and reaches them over its PCIe lanes.
double network_rate(const machine::Machine& machine, int gpus) {
  const machine::Network& network = machine.network;
  const int all = std::max(1, network.adapters);
  const int own = std::min(all, gpus * std::max(1, network.adapters / machine.gpu_count));
  const double lanes = std::min(machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s);
  return std::min(kOfNetwork * network.bytes_per_s * own / all, gpus * lanes);
}

// Of a group that spans nodes: the fewest GPUs that it has in one decide how many adapters it
// reaches; and groups alike share them.
double network_ring(const machine::Machine& machine, const program::Communicator& communicator) {
  std::map<int, int> gpus_of_node;
  for (int rank = 0; rank < communicator.ranks; ++rank)
    ++gpus_of_node[communicator.gpu_of(rank) / machine.gpu_count];
  int fewest = machine.gpu_count;
  for (const auto& [node, gpus] : gpus_of_node) fewest = std::min(fewest, gpus);
  return std::min(network_rate(machine, fewest),
                  network_rate(machine, machine.gpu_count) /
                      groups_in_node(machine, communicator, first_node(machine, communicator)));
}

// The rates of the group's rings, and whether NVLinks carry them. With a GPU in each node there is
// but the network.
void find_rings(const machine::Machine& machine, const program::Communicator& communicator,
                Group& group) {
  const machine::GpuLink& link = machine.gpu_link;
  const auto members =
      static_cast<int>(members_in_node(machine, communicator, communicator.number()).size());
  const bool peers = communicator.peer_to_peer && link.peer_to_peer;
  double share = link.kind == machine::LinkKind::kNvswitch && members > 1 ? 1 : 0;
  if (link.kind == machine::LinkKind::kNvlink && members > 1)
    share = least_share_of_links(machine, communicator);
  group.nvlink = peers && share > 0;
  group.peers = peers;
  double rate = std::numeric_limits<double>::max();
  if (members > 1) rate = group.nvlink ? share * link.ring_bytes_per_s : pcie_ring(machine);
  // Through host memory every byte is written there and read again. A rank that stands for all has
  // but its share of it.
  const int shares = communicator.simulated == 1 ? members : 1;
  const int groups = communicator.simulated == 1
                         ? 1
                         : groups_in_node(machine, communicator, first_node(machine, communicator));
  if (!peers)
    rate = std::min(rate, shares * machine.host.memory_bytes_per_s / (2.0 * members * groups));
  if (group.nodes > 1) rate = std::min(rate, network_ring(machine, communicator));
  group.ring = rate / 1e9;
}

// All GPUs of a switch reach the file's rate. An all-reduce of n ranks sends each byte to the
// switch and one nth of the sums, so fewer ranks have the same wires and another bus bandwidth.
double nvls_rate(const machine::Machine& machine, int ranks) {
  const auto bus = [](int n) { return 2.0 * (n - 1) / (n + 1); };
  return machine.gpu_link.nvls_bytes_per_s / 1e9 * bus(ranks) / bus(machine.gpu_count);
}

// As many as its rings would have; or as NCCL is told, and then their share of the rate.
void find_channels(const machine::Machine& machine, const program::Communicator& communicator,
                   Group& group) {
  const double rings = group.ring / ring_rate_of(machine.gpu, group.nvlink);
  group.channels = kChannelsARing * std::max(1, static_cast<int>(rings + kLacking));
  if (communicator.channels == 0) return;
  const double share = std::min(1.0, static_cast<double>(communicator.channels) / group.channels);
  group.ring *= share;
  group.nvls *= share;
  group.channels = communicator.channels;
}

}  // namespace

Group group_of(const machine::Machine& machine, const program::Communicator& communicator) {
  machine::check_ranks(machine, communicator.ranks, "the number of ranks");
  Group group;
  group.ranks = communicator.ranks;
  group.nodes = nodes_of(machine, communicator);
  if (group.ranks % group.nodes != 0)
    throw InputError(
        fmt::format("{} ranks cannot be shared evenly among {} nodes of {}; write a "
                    "multiple of {}",
                    group.ranks, group.nodes, machine.id, group.nodes));
  find_rings(machine, communicator, group);
  const bool peers = communicator.peer_to_peer && machine.gpu_link.peer_to_peer;
  if (group.nodes == 1 && peers && group.ranks > 2) group.nvls = nvls_rate(machine, group.ranks);
  find_channels(machine, communicator, group);
  return group;
}

Group pair_of(const machine::Machine& machine, const program::Communicator& communicator) {
  const int from = communicator.gpu_of(0), to = communicator.gpu_of(1);
  Group pair;
  pair.ranks = 2;
  pair.nodes = nodes_of(machine, communicator);
  pair.peers = communicator.peer_to_peer && machine.gpu_link.peer_to_peer;
  double rate = network_rate(machine, 1);
  if (pair.nodes == 1) {
    const int a = from % machine.gpu_count, b = to % machine.gpu_count;
    pair.nvlink = pair.peers && peer_way(machine, a, b) == Way::kNvlink;
    rate = pair.peers ? peer_rate(machine, a, b) : rate_through_host(machine);
  }
  pair.ring = rate / 1e9;
  find_channels(machine, communicator, pair);
  return pair;
}

}  // namespace trainscope::sim
