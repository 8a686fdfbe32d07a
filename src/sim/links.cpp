#include "sim/links.h"

#include <algorithm>

namespace trainscope::sim {
namespace {

using machine::PlaceKind;
using machine::WireKind;

constexpr std::uint32_t kNoWire = UINT32_MAX;

machine::Topology without_nvlinks(machine::Machine machine) {
  machine.gpu_link.kind = machine::LinkKind::kPcie;
  return machine::topology_of(machine);
}

// What hangs above a GPU or a switch: a wire that leads nearer to the processor.
std::uint32_t wire_above(const machine::Topology& topology, std::uint32_t place) {
  for (std::uint32_t i = 0; i < topology.wires.size(); ++i) {
    const machine::Wire& wire = topology.wires[i];
    if (wire.kind != WireKind::kPcie || (wire.a != place && wire.b != place)) continue;
    const PlaceKind other = topology.places[wire.a == place ? wire.b : wire.a].kind;
    const bool of_gpu = topology.places[place].kind == PlaceKind::kGpu;
    if (other == PlaceKind::kHostBridge || (of_gpu && other == PlaceKind::kPcieSwitch)) return i;
  }
  return kNoWire;
}

}  // namespace

Links::Links(const machine::Machine& machine) : wires_(without_nvlinks(machine)) {
  const double nvlink = machine.gpu_link.bytes_per_s;
  for (int gpu = 0; gpu < wires_.gpus; ++gpu) {
    out_.push_back(add(nvlink > 0 ? nvlink : machine.pcie.both_bytes_per_s));
    in_.push_back(add(nvlink > 0 ? nvlink : machine.pcie.both_bytes_per_s));
    both_.push_back(add(machine.pcie.both_bytes_per_s));
  }
  for (int node = 0; node < machine.nodes && machine.nodes > 1; ++node) {
    node_out_.push_back(add(machine.network.bytes_per_s));
    node_in_.push_back(add(machine.network.bytes_per_s));
  }
  add_wires(machine);
}

void Links::add_wires(const machine::Machine& machine) {
  first_wire_ = static_cast<LinkId>(rates_.size());
  const double pcie = std::max(machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s);
  for (const machine::Wire& wire : wires_.wires)
    for (int direction = 0; direction < 2; ++direction)
      add(wire.kind == WireKind::kPcie ? pcie : wire.bytes_per_s);
}

LinkId Links::add(double bytes_per_s) {
  rates_.push_back(bytes_per_s);
  return static_cast<LinkId>(rates_.size() - 1);
}

LinkId Links::directed(std::uint32_t wire, std::uint32_t from) const {
  return static_cast<LinkId>(first_wire_ + 2 * wire + (wires_.wires[wire].a == from ? 0 : 1));
}

std::vector<LinkId> Links::up_from(int gpu) const {
  std::vector<LinkId> links;
  for (auto at = static_cast<std::uint32_t>(gpu);
       wires_.places[at].kind != PlaceKind::kHostBridge;) {
    const std::uint32_t wire = wire_above(wires_, at);
    if (wire == kNoWire) break;
    links.push_back(directed(wire, at));
    at = wires_.wires[wire].a == at ? wires_.wires[wire].b : wires_.wires[wire].a;
  }
  return links;
}

// The same wires the other way round.
std::vector<LinkId> Links::down_to(int gpu) const {
  std::vector<LinkId> links = up_from(gpu);
  for (LinkId& link : links) link = static_cast<LinkId>(first_wire_ + ((link - first_wire_) ^ 1));
  std::reverse(links.begin(), links.end());
  return links;
}

std::vector<LinkId> Links::over_pcie(int from, int to) const {
  std::vector<LinkId> links;
  auto at = static_cast<std::uint32_t>(from);
  for (const std::uint32_t wire : machine::path_between(wires_, from, to).wires) {
    links.push_back(directed(wire, at));
    at = wires_.wires[wire].a == at ? wires_.wires[wire].b : wires_.wires[wire].a;
  }
  return links;
}

Route Links::between(int from, int to, Way way) {
  std::vector<LinkId>& route = routes_[{End::kGpus, way, from, to}];
  if (!route.empty()) return route;
  const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
  const std::size_t each = static_cast<std::size_t>(wires_.gpus_per_node);
  if (a / each != b / each) {
    route = {node_out_[a / each], node_in_[b / each]};
  } else if (way == Way::kNvlink) {
    route = {out_[a], in_[b]};
  } else if (way == Way::kPcie) {
    route = over_pcie(from, to);
  } else {
    route = up_from(from);
    for (const LinkId link : down_to(to)) route.push_back(link);
  }
  return route;
}

Route Links::to_gpu(int gpu) {
  std::vector<LinkId>& route = routes_[{End::kToGpu, Way::kPcie, gpu, gpu}];
  if (!route.empty()) return route;
  route = down_to(gpu);
  route.push_back(both_[static_cast<std::size_t>(gpu)]);
  return route;
}

Route Links::from_gpu(int gpu) {
  std::vector<LinkId>& route = routes_[{End::kFromGpu, Way::kPcie, gpu, gpu}];
  if (!route.empty()) return route;
  route = up_from(gpu);
  route.push_back(both_[static_cast<std::size_t>(gpu)]);
  return route;
}

}  // namespace trainscope::sim
