#include "machine/topology_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/error.h"

namespace trainscope::machine {
namespace {

void check_gpus(const Topology& whole, const std::vector<int>& gpus) {
  for (const int gpu : gpus)
    if (gpu < 0 || gpu >= whole.gpus)
      throw InputError(
          fmt::format("there is no GPU {}; the machine has GPU 0 to GPU {}", gpu, whole.gpus - 1));
}

// Of the first node that has any; all others have as many.
int gpus_per_node(const Topology& whole, const std::vector<int>& gpus) {
  std::vector<int> counts;
  for (const int gpu : gpus) {
    const auto node = static_cast<std::size_t>(gpu / whole.gpus_per_node);
    if (counts.size() <= node) counts.resize(node + 1);
    ++counts[node];
  }
  std::erase(counts, 0);
  if (counts.empty()) return 1;
  if (std::ranges::any_of(counts, [&](int count) { return count != counts.front(); }))
    throw InputError("a group has another number of GPUs in one node than in another");
  return counts.front();
}

// Takes away what fewer than two wires reach, until there is nothing of the kind: it leads nowhere.
void prune(const Topology& whole, std::vector<bool>& kept) {
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<int> wires(whole.places.size(), 0);
    for (const Wire& wire : whole.wires)
      if (kept[wire.a] && kept[wire.b]) ++wires[wire.a], ++wires[wire.b];
    for (std::size_t i = 0; i < whole.places.size(); ++i) {
      if (!kept[i] || wires[i] >= 2 || whole.places[i].kind == PlaceKind::kGpu) continue;
      kept[i] = false;
      changed = true;
    }
  }
}

}  // namespace

Topology part_of(const Topology& whole, const std::vector<int>& gpus) {
  check_gpus(whole, gpus);
  std::vector<bool> kept(whole.places.size(), true);
  for (int gpu = 0; gpu < whole.gpus; ++gpu)
    kept[static_cast<std::size_t>(gpu)] = std::ranges::find(gpus, gpu) != gpus.end();
  prune(whole, kept);

  Topology part;
  part.gpus = static_cast<int>(gpus.size());
  part.gpus_per_node = gpus_per_node(whole, gpus);
  std::vector<std::uint32_t> number(whole.places.size(), 0);
  for (std::size_t i = 0; i < whole.places.size(); ++i) {
    if (!kept[i]) continue;
    number[i] = static_cast<std::uint32_t>(part.places.size());
    part.places.push_back(whole.places[i]);
  }
  for (Wire wire : whole.wires) {
    if (!kept[wire.a] || !kept[wire.b]) continue;
    wire.a = number[wire.a];
    wire.b = number[wire.b];
    part.wires.push_back(wire);
  }
  return part;
}

}  // namespace trainscope::machine
