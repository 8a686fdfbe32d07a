// The trees by which an all-reduce goes up to a root and down again.
//
// Within a node GPUs stand in a chain, in the order of the ring; the first of each node joins the
// nodes. Between nodes there are two binary trees, of which a node is inside one and a leaf of the
// other, so that each carries half of the bytes and no adapter idles (Sanders, Speck, Traeff:
// Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009; NCCL's double binary
// tree, nccl: src/graph/trees.cc). On one node there is one tree: the chain.
#pragma once

#include <vector>

#include "machine/topology.h"

namespace trainscope::machine {

struct Tree {
  std::vector<int> parent;  // by GPU; -1: the root
  int depth = 0;            // links from the farthest GPU to the root
};

// The trees over GPUs 0 .. count - 1. Throws InputError where the machine has fewer.
std::vector<Tree> trees_of(const Topology& topology, int count);

}  // namespace trainscope::machine
