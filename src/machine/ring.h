// The order in which a ring goes through the GPUs of a machine.
#pragma once

#include <vector>

#include "machine/topology.h"

namespace trainscope::machine {

// GPUs 0 .. count - 1, node after node; within a node so that neighbours, and the last and the
// first where the ring closes within the node, share NVLinks, the most of them, if there is such an
// order of a mesh; else by number. Of the orders that do, the first one by number. Throws
// InputError where the machine has fewer GPUs.
std::vector<int> ring_order(const Topology& topology, int count);

}  // namespace trainscope::machine
