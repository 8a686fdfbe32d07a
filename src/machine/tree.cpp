#include "machine/tree.h"

#include <algorithm>

#include "machine/ring.h"

namespace trainscope::machine {
namespace {

// A node's number with its lowest bit moved up is its parent; where there is no such node, the
// number without that bit. 0 is the root, above the largest power of two.
int parent_in_first(int node, int nodes) {
  if (node == 0) return -1;
  const int bit = node & -node;
  const int up = (node ^ bit) | (bit << 1);
  return up < nodes ? up : node ^ bit;
}

// The same tree mirrored, or turned by one where the number is odd: what was inside is a leaf.
int parent_in_second(int node, int nodes) {
  const auto there = [nodes](int one) {
    return nodes % 2 == 0 ? nodes - 1 - one : (one - 1 + nodes) % nodes;
  };
  const auto back = [nodes](int one) {
    return nodes % 2 == 0 ? nodes - 1 - one : (one + 1) % nodes;
  };
  const int parent = parent_in_first(there(node), nodes);
  return parent < 0 ? -1 : back(parent);
}

int depth_of(const std::vector<int>& parent) {
  int deepest = 0;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    int depth = 0;
    for (int at = parent[i]; at >= 0; at = parent[static_cast<std::size_t>(at)]) ++depth;
    deepest = std::max(deepest, depth);
  }
  return deepest;
}

}  // namespace

std::vector<Tree> trees_of(const Topology& topology, int count) {
  const std::vector<int> order = ring_order(topology, count);
  const int each = topology.gpus_per_node, nodes = (count + each - 1) / each;
  const auto at = [&](int place) { return order[static_cast<std::size_t>(place)]; };
  std::vector<Tree> trees(nodes > 1 ? 2 : 1);
  for (std::size_t which = 0; which < trees.size(); ++which) {
    std::vector<int>& parent = trees[which].parent;
    parent.assign(static_cast<std::size_t>(count), -1);
    for (int place = 0; place < count; ++place) {
      const int node = place / each;
      const int above = which == 0 ? parent_in_first(node, nodes) : parent_in_second(node, nodes);
      const bool heads = place % each == 0;
      if (!heads) parent[static_cast<std::size_t>(at(place))] = at(place - 1);
      if (heads && above >= 0) parent[static_cast<std::size_t>(at(place))] = at(above * each);
    }
    trees[which].depth = depth_of(parent);
  }
  return trees;
}

}  // namespace trainscope::machine
