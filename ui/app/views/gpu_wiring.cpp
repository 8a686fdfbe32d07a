#include "ui/app/views/gpu_wiring.h"

#include <algorithm>

namespace trainscope::ui {

using machine::PlaceKind;
using machine::WireKind;

int GpuWiring::nodes() const {
  if (!topology_) return 1;
  const int each = topology_->gpus_per_node, count = static_cast<int>(ring_.size());
  return (count + each - 1) / each;
}

bool GpuWiring::has(PlaceKind kind) const {
  return std::any_of(topology_->places.begin(), topology_->places.end(),
                     [kind](const auto& place) { return place.kind == kind; });
}

const machine::Wire* GpuWiring::nvlinks_between(int a, int b) const {
  for (const machine::Wire& wire : topology_->wires) {
    const auto from = static_cast<int>(wire.a), to = static_cast<int>(wire.b);
    if (wire.kind == WireKind::kNvlink && ((from == a && to == b) || (from == b && to == a)))
      return &wire;
  }
  return nullptr;
}

bool GpuWiring::has_mesh() const {
  for (const int a : ring_)
    for (const int b : ring_)
      if (a < b && nvlinks_between(a, b)) return true;
  return false;
}

int GpuWiring::links_to_switch() const {
  for (const machine::Wire& wire : topology_->wires)
    if (wire.kind == WireKind::kNvlink && wire.a == 0) return wire.links;
  return 1;
}

std::uint32_t GpuWiring::parent(std::uint32_t place) const {
  const auto rank = [&](std::uint32_t one) {
    const PlaceKind kind = topology_->places[one].kind;
    return kind == PlaceKind::kGpu ? 0 : kind == PlaceKind::kPcieSwitch ? 1 : 2;
  };
  for (const machine::Wire& wire : topology_->wires) {
    if (wire.kind != WireKind::kPcie || (wire.a != place && wire.b != place)) continue;
    const std::uint32_t other = wire.a == place ? wire.b : wire.a;
    if (topology_->places[other].kind != PlaceKind::kAdapter && rank(other) > rank(place))
      return other;
  }
  return place;
}

std::vector<std::string> short_names(const std::string& name) {
  std::vector<std::string> names = {name};
  const std::size_t number = name.rfind(' ');
  if (number == std::string::npos || number == 0) return names;
  if (const std::size_t word = name.rfind(' ', number - 1); word != std::string::npos)
    names.push_back(name.substr(word + 1));
  names.push_back(name.substr(number + 1));
  return names;
}

}  // namespace trainscope::ui
