#include "sim/peer_link.h"

#include <algorithm>

#include "machine/topology.h"

namespace trainscope::sim {
namespace {

constexpr double kOfNvlink = 0.88;
constexpr double kThroughHost = 0.4;

double pcie_rate(const machine::Machine& machine) {
  return std::min(machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s);
}

}  // namespace

Way peer_way(const machine::Machine& machine, int from, int to) {
  const machine::Topology topology = machine::topology_of(machine);
  const machine::Path path = machine::path_between(topology, from, to);
  if (path.kind == machine::WireKind::kNvlink) return Way::kNvlink;
  const bool between_processors = std::any_of(
      path.wires.begin(), path.wires.end(),
      [&](std::uint32_t wire) { return topology.wires[wire].kind == machine::WireKind::kSocket; });
  const bool direct =
      machine.gpu_link.peer_to_peer && !(machine.gpu_link.is_nvlink() && between_processors);
  return direct ? Way::kPcie : Way::kThroughHost;
}

double peer_rate(const machine::Machine& machine, int from, int to) {
  const machine::Path path = machine::path_between(machine::topology_of(machine), from, to);
  const Way way = peer_way(machine, from, to);
  if (way == Way::kNvlink) return kOfNvlink * path.bytes_per_s;
  const double rate = std::min(pcie_rate(machine), path.bytes_per_s);
  return way == Way::kPcie ? rate : kThroughHost * rate;
}

double rate_through_host(const machine::Machine& machine) {
  return kThroughHost * pcie_rate(machine);
}

double peer_port_rate(const machine::Machine& machine) {
  return machine.gpu_link.is_nvlink() ? kOfNvlink * machine.gpu_link.bytes_per_s
                                      : pcie_rate(machine);
}

}  // namespace trainscope::sim
