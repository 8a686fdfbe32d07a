// How fast copies between two GPUs of a node are.
//
// Over NVLinks a copy reaches 88 % of what they carry: 396.4 of 450 GB/s on an H200
// (ml-engineering, network/README.md). Over PCIe it has the slower of the link's two directions,
// and what joins two processors. GPUs that may not reach each other, and those without NVLink on
// two processors, copy through host memory, at 40 % of that: 20 instead of 50 GB/s of both
// directions on A40 (nccl-tests, issue 74).
#pragma once

#include "machine/machine.h"
#include "sim/links.h"

namespace trainscope::sim {

// Bytes a second of a copy that is alone. Throws InputError where nothing joins the two.
double peer_rate(const machine::Machine& machine, int from, int to);

// The same where the two may not reach each other.
double rate_through_host(const machine::Machine& machine);

// The way that it takes.
Way peer_way(const machine::Machine& machine, int from, int to);

// What a GPU can take in from all others together.
double peer_port_rate(const machine::Machine& machine);

}  // namespace trainscope::sim
