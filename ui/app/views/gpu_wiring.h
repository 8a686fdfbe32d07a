// What joins the GPUs of a group, asked of a machine's topology.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/topology.h"

namespace trainscope::ui {

// All but nodes() want a topology.
class GpuWiring {
 public:
  // `topology` may be null. `ring`: the group's GPUs.
  GpuWiring(const machine::Topology* topology, const std::vector<int>& ring)
      : topology_(topology), ring_(ring) {}

  int nodes() const;  // that the group is on; 1 where that is not known
  bool has(machine::PlaceKind kind) const;
  const machine::Wire* nvlinks_between(int a, int b) const;  // null: there are none
  bool has_mesh() const;                                     // NVLinks from GPU to GPU
  int links_to_switch() const;                               // of each GPU
  // The switch or host bridge that a place hangs on; its own number where it is the top.
  std::uint32_t parent(std::uint32_t place) const;

 private:
  const machine::Topology* topology_;
  std::vector<int> ring_;
};

// "PCIe switch 3", and without what comes before the last two words, and before the last.
std::vector<std::string> short_names(const std::string& name);

}  // namespace trainscope::ui
