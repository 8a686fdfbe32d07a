// What joins some of a machine's GPUs alone: those that work together, as the ranks of a group.
#pragma once

#include <vector>

#include "machine/topology.h"

namespace trainscope::machine {

// `gpus`, by rising number, become GPU 0, 1, … of the part, whose nodes have as many of them each;
// the names of places stay. Of the other places those are kept that lie on a way between two of
// these GPUs. Throws InputError for a GPU that the whole does not have, and where its nodes would
// have different numbers of GPUs.
Topology part_of(const Topology& whole, const std::vector<int>& gpus);

}  // namespace trainscope::machine
