#include "machine/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <queue>

#include "base/error.h"
#include "base/units.h"

namespace trainscope::machine {
namespace {

// One hop of a message of NCCL's protocol LL (nccl: src/graph/tuning.cc).
constexpr Nanos kNvlinkHop = 600;
constexpr Nanos kPcieHop = 1'000;

using PlaceId = std::uint32_t;

// Raw rate of a lane by generation: 5, 8 and 16 GT/s and so on, less their encoding.
double pcie_bytes_per_s(const Pcie& pcie) {
  constexpr double kPerLane[] = {0, 0.25e9, 0.5e9, 0.985e9, 1.969e9, 3.938e9, 7.563e9};
  const auto generation = std::clamp(pcie.generation, 1, 6);
  return kPerLane[generation] * pcie.lanes;
}

class Builder {
 public:
  explicit Builder(const Machine& machine) : machine_(machine) {
    topology_.gpus_per_node = machine.gpu_count;
    topology_.gpus = static_cast<int>(all_gpus(machine));
  }

  Topology build() {
    for (int gpu = 0; gpu < topology_.gpus; ++gpu)
      add(PlaceKind::kGpu, gpu / machine_.gpu_count, fmt::format("GPU {}", gpu));
    for (int node = 0; node < machine_.nodes; ++node) {
      add_tree(node);
      if (machine_.gpu_link.kind == LinkKind::kNvlink) add_mesh(node);
      if (machine_.gpu_link.kind == LinkKind::kNvswitch) add_switch(node);
    }
    if (machine_.nodes > 1) add_network();
    return std::move(topology_);
  }

 private:
  PlaceId add(PlaceKind kind, int node, std::string name) {
    if (machine_.nodes > 1 && kind != PlaceKind::kNetwork) name += fmt::format(" of node {}", node);
    topology_.places.push_back({kind, node, std::move(name)});
    return static_cast<PlaceId>(topology_.places.size() - 1);
  }
  void join(const Wire& wire) { topology_.wires.push_back(wire); }
  PlaceId gpu(int node, int number) const {
    return static_cast<PlaceId>(node * machine_.gpu_count + number);
  }
  Wire pcie(PlaceId a, PlaceId b) const {
    return {a, b, WireKind::kPcie, 1, pcie_bytes_per_s(machine_.pcie), kPcieHop / 2};
  }

  // GPUs on switches, those on host bridges, those joined with each other.
  void add_tree(int node) {
    const PcieTree& tree = machine_.pcie_tree;
    std::vector<PlaceId> bridges;
    for (int i = 0; i < tree.sockets; ++i)
      bridges.push_back(add(PlaceKind::kHostBridge, node, fmt::format("host bridge {}", i)));
    for (std::size_t a = 0; a < bridges.size(); ++a)
      for (std::size_t b = a + 1; b < bridges.size(); ++b)
        join({bridges[a], bridges[b], WireKind::kSocket, 1, tree.socket_bytes_per_s, kPcieHop / 2});
    const int a_switch = std::max(1, tree.gpus_per_switch);
    const int switches = (machine_.gpu_count + a_switch - 1) / a_switch;
    for (int i = 0; i < switches; ++i) {
      PlaceId above = bridges[static_cast<std::size_t>(i * tree.sockets / switches)];
      if (tree.gpus_per_switch > 0) {
        const PlaceId place = add(PlaceKind::kPcieSwitch, node, fmt::format("PCIe switch {}", i));
        join(pcie(place, above));
        above = place;
      }
      const int end = std::min(machine_.gpu_count, (i + 1) * a_switch);
      for (int number = i * a_switch; number < end; ++number) join(pcie(gpu(node, number), above));
      above_gpus_.push_back(above);
    }
  }

  std::vector<NvlinkPair> pairs() const {
    if (!machine_.gpu_link.pairs.empty()) return machine_.gpu_link.pairs;
    std::vector<NvlinkPair> all;
    for (int a = 0; a < machine_.gpu_count; ++a)
      for (int b = a + 1; b < machine_.gpu_count; ++b) all.push_back({a, b, 1});
    return all;
  }

  // The GPU with the most links has the rate of the file.
  void add_mesh(int node) {
    const std::vector<NvlinkPair> joined = pairs();
    std::vector<int> links(static_cast<std::size_t>(machine_.gpu_count), 0);
    for (const NvlinkPair& pair : joined) {
      links[static_cast<std::size_t>(pair.a)] += pair.links;
      links[static_cast<std::size_t>(pair.b)] += pair.links;
    }
    const double each =
        machine_.gpu_link.bytes_per_s / *std::max_element(links.begin(), links.end());
    for (const NvlinkPair& pair : joined)
      join({gpu(node, pair.a), gpu(node, pair.b), WireKind::kNvlink, pair.links, each * pair.links,
            kNvlinkHop});
  }

  // All switches of a node together: any two GPUs get the whole rate. A link carries 25 GB/s each
  // way, from Blackwell on 50 (NVIDIA's data sheets).
  void add_switch(int node) {
    constexpr double kFirstFast = 10.0;
    const double link = machine_.gpu.compute_capability >= kFirstFast ? 50e9 : 25e9;
    const double rate = machine_.gpu_link.bytes_per_s;
    const PlaceId place = add(PlaceKind::kNvSwitch, node, "NVSwitch");
    const int links = std::max(1, static_cast<int>(rate / link + 0.5));
    for (int number = 0; number < machine_.gpu_count; ++number)
      join({gpu(node, number), place, WireKind::kNvlink, links, rate, kNvlinkHop / 2});
  }

  // Adapters are spread over the places that GPUs hang on.
  void add_network() {
    const PlaceId network = add(PlaceKind::kNetwork, 0, "network");
    const Network& net = machine_.network;
    const std::size_t per_node = above_gpus_.size() / static_cast<std::size_t>(machine_.nodes);
    for (int node = 0; node < machine_.nodes; ++node)
      for (int i = 0; i < net.adapters; ++i) {
        const PlaceId adapter = add(PlaceKind::kAdapter, node, fmt::format("adapter {}", i));
        const auto place =
            static_cast<std::size_t>(i) * per_node / static_cast<std::size_t>(net.adapters);
        join(pcie(adapter, above_gpus_[static_cast<std::size_t>(node) * per_node + place]));
        join({adapter, network, WireKind::kNetwork, 1, net.bytes_per_s / net.adapters,
              net.latency_ns / 2});
      }
  }

  const Machine& machine_;
  Topology topology_;
  std::vector<PlaceId> above_gpus_;  // node after node
};

// The fewest wires over which `usable` leads from one place to another, never through a GPU; empty:
// there is no way.
template <class Usable>
std::vector<std::uint32_t> shortest(const Topology& topology, PlaceId from, PlaceId to,
                                    Usable usable) {
  constexpr auto kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> by(topology.places.size(), kUnseen);
  std::queue<PlaceId> open;
  open.push(from);
  while (!open.empty() && by[to] == kUnseen) {
    const PlaceId here = open.front();
    open.pop();
    if (here != from && topology.places[here].kind == PlaceKind::kGpu) continue;
    for (std::uint32_t i = 0; i < topology.wires.size(); ++i) {
      const Wire& wire = topology.wires[i];
      if (!usable(wire) || (wire.a != here && wire.b != here)) continue;
      const PlaceId there = wire.a == here ? wire.b : wire.a;
      if (there == from || by[there] != kUnseen) continue;
      by[there] = i;
      open.push(there);
    }
  }
  std::vector<std::uint32_t> wires;
  if (by[to] == kUnseen) return wires;
  for (PlaceId at = to; at != from;) {
    const Wire& wire = topology.wires[by[at]];
    wires.push_back(by[at]);
    at = wire.a == at ? wire.b : wire.a;
  }
  std::reverse(wires.begin(), wires.end());
  return wires;
}

Path path_over(const Topology& topology, std::vector<std::uint32_t> wires) {
  Path path;
  path.bytes_per_s = std::numeric_limits<double>::max();
  for (const std::uint32_t i : wires) {
    const Wire& wire = topology.wires[i];
    path.bytes_per_s = std::min(path.bytes_per_s, wire.bytes_per_s);
    path.latency_ns += wire.latency_ns;
    path.kind = std::max(path.kind, wire.kind);
  }
  path.wires = std::move(wires);
  return path;
}

void check_gpu(const Topology& topology, int gpu) {
  if (gpu < 0 || gpu >= topology.gpus)
    throw InputError(
        fmt::format("there is no GPU {}; the machine has GPU 0 to GPU {}", gpu, topology.gpus - 1));
}

}  // namespace

Topology topology_of(const Machine& machine) {
  return Builder(machine).build();
}

Path path_between(const Topology& topology, int gpu_a, int gpu_b) {
  check_gpu(topology, gpu_a);
  check_gpu(topology, gpu_b);
  const auto from = static_cast<PlaceId>(gpu_a), to = static_cast<PlaceId>(gpu_b);
  if (from == to) return {};
  auto wires =
      shortest(topology, from, to, [](const Wire& wire) { return wire.kind == WireKind::kNvlink; });
  if (wires.empty())
    wires = shortest(topology, from, to,
                     [](const Wire& wire) { return wire.kind != WireKind::kNvlink; });
  if (wires.empty())
    throw InputError(fmt::format("nothing joins {} and {}; add a link between them",
                                 topology.places[from].name, topology.places[to].name));
  return path_over(topology, std::move(wires));
}

GpuLink link_without_nvlinks(Machine machine) {
  GpuLink link;
  link.kind = LinkKind::kPcie;
  machine.gpu_link = link;
  if (machine.gpu_count < 2) return link;
  link.bytes_per_s = path_between(topology_of(machine), 0, 1).bytes_per_s;
  link.ring_bytes_per_s = kPcieRingShare * link.bytes_per_s;
  return link;
}

void check(const Topology& topology) {
  for (const Wire& wire : topology.wires)
    if (!(wire.bytes_per_s > 0))
      throw InputError(
          fmt::format("the link between {} and {} carries nothing; give it a "
                      "bandwidth above 0 or leave it out",
                      topology.places[wire.a].name, topology.places[wire.b].name));
  for (int gpu = 1; gpu < topology.gpus; ++gpu) path_between(topology, 0, gpu);
}

void check_ranks(const Machine& machine, std::int64_t ranks, std::string_view knob) {
  const std::int64_t gpus = all_gpus(machine);
  if (ranks <= gpus) return;
  throw InputError(
      fmt::format("{} = {} cannot be: {} has {}; write at most {}, or choose a larger machine",
                  knob, ranks, machine.id, counted(static_cast<std::size_t>(gpus), "GPU"), gpus));
}

std::string relation(const Topology& topology, int gpu_a, int gpu_b) {
  if (gpu_a == gpu_b) return "X";
  const Path path = path_between(topology, gpu_a, gpu_b);
  switch (path.kind) {
    case WireKind::kNvlink:
      return fmt::format("NV{}", topology.wires[path.wires.front()].links);
    case WireKind::kSocket:
      return "SYS";
    case WireKind::kNetwork:
      return "NET";
    case WireKind::kPcie:
      break;
  }
  const auto at = [&](std::uint32_t place, PlaceKind kind) {
    return topology.places[place].kind == kind;
  };
  const bool bridge = std::any_of(path.wires.begin(), path.wires.end(), [&](std::uint32_t i) {
    return at(topology.wires[i].a, PlaceKind::kHostBridge) ||
           at(topology.wires[i].b, PlaceKind::kHostBridge);
  });
  return bridge ? "PHB" : path.wires.size() > 2 ? "PXB" : "PIX";
}

std::string topology_matrix(const Machine& machine) {
  const Topology topology = topology_of(machine);
  std::string text = fmt::format("{:<6}", "");
  for (int b = 0; b < topology.gpus_per_node; ++b)
    text += fmt::format("{:<6}", fmt::format("GPU{}", b));
  text.erase(text.find_last_not_of(' ') + 1);
  for (int a = 0; a < topology.gpus_per_node; ++a) {
    text += fmt::format("\n{:<6}", fmt::format("GPU{}", a));
    for (int b = 0; b < topology.gpus_per_node; ++b)
      text += fmt::format("{:<6}", relation(topology, a, b));
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text + "\n";
}

}  // namespace trainscope::machine
