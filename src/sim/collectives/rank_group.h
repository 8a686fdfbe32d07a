// What joins the GPUs of a communicator: its nodes, the rates of its rings, the channels that they
// have.
#pragma once

#include "machine/machine.h"
#include "program/program.h"

namespace trainscope::sim {

// The GPUs of a communicator and what joins them.
struct Group {
  int ranks = 1;
  int nodes = 1;
  bool nvlink = false;  // every two neighbours of a ring share NVLinks or a switch
  bool peers = false;   // they reach each other directly
  double ring = 0;      // GB/s of bus bandwidth on rings, all channels
  double nvls = 0;      // the same in the switch; 0: it cannot
  int channels = 1;
  int per_node() const { return ranks / nodes; }
};

// Throws InputError when the machine has too few GPUs, or its nodes have not equally many of them.
Group group_of(const machine::Machine& machine, const program::Communicator& communicator);

// Two GPUs, wherever they are.
Group pair_of(const machine::Machine& machine, const program::Communicator& communicator);

// Of the groups that are alike, those that have GPUs in a node.
int groups_in_node(const machine::Machine& machine, const program::Communicator& communicator,
                   int node);

// How many nodes its GPUs are in.
int nodes_of(const machine::Machine& machine, const program::Communicator& communicator);

}  // namespace trainscope::sim
