// How long a collective takes, in closed form: what NCCL's own tuner predicts for an algorithm and
// a protocol (nccl: src/graph/tuning.cc), with the rates and wires of the machine, and which of
// them it chooses: the quickest.
//
//   time = latency + bytes / algorithm bandwidth
//
// by which it chooses. How long what is chosen takes differs where it takes buffers in loops. An
// all-reduce in the switch sums a first loop before anything can come down. A ring with Simple
// waits for its hops in each loop: the machine's rate, which is one of large messages, has that in
// it, so only what a message lacks of a loop is latency beside it.
//
// Rings pass pieces around: 2 (n - 1) steps of an all-reduce. Trees halve the steps across nodes
// and pay with bandwidth. NVLS lets the switch add. LL sends 4 bytes with a flag of 4, LL128 120 of
// 128: quick to start, of less bandwidth; Simple synchronises pieces, and has all of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.h"
#include "program/program.h"
#include "sim/links.h"

namespace trainscope::sim {

enum class Algorithm : std::uint8_t { kTree, kRing, kNvls };
enum class Protocol : std::uint8_t { kLl, kLl128, kSimple };
std::string_view name_of(Algorithm algorithm);  // "ring", as in the knob
std::string_view name_of(Protocol protocol);    // "ll128"

struct CollectivePlan {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  Way way = Way::kNvlink;   // within a node
  int channels = 1;         // blocks of each rank's kernel
  double latency_ns = 0;    // before the first byte counts
  double base_ns = 0;       // of that, what passes before anything is sent
  double bytes_per_s = 0;   // algorithm bandwidth
  Nanos predicted = 0;      // by the tuner: the quickest by this is chosen
  Nanos duration = 0;       // of the whole, once the last rank is there
  double wire_bytes = 0;    // that a rank sends, and receives
  double memory_bytes = 0;  // of a rank's device memory, read and written
  // The rest of the latency: chunks on their way, one hop after the other.
  double hops_ns() const { return latency_ns - base_ns; }
};

// Every way to carry out a collective, the quickest by the tuner first; those that the communicator
// rules out are not among them. Throws InputError when it rules out all, or the machine has too few
// GPUs.
std::vector<CollectivePlan> collective_plans(const machine::Machine& machine,
                                             const program::Communicator& communicator,
                                             program::CollectiveKind kind, std::int64_t bytes);

// The quickest of them.
CollectivePlan plan_collective(const machine::Machine& machine,
                               const program::Communicator& communicator,
                               program::CollectiveKind kind, std::int64_t bytes);

// Bus bandwidth over algorithm bandwidth: how much each wire carries for each byte of the buffer,
// whatever the number of ranks (nccl-tests: doc/PERFORMANCE.md).
double bus_factor(program::CollectiveKind kind, int ranks);

// What a rank sends, and receives, for each byte of the buffer. In the switch (NVLS) each byte goes
// up once and the sums come down.
double wire_factor(Algorithm algorithm, program::CollectiveKind kind, int ranks);

// "ncclDevKernel_AllReduce_Sum_f32_RING_LL", as NCCL names the kernel of numbers of that type. Of a
// sum it builds one kernel for trees and one for all else, of other collectives one, each named by
// LL, the protocol that it does without a call; others are functions that it calls
// (nccl: src/device/generate.py, best_kernel). So the name tells a tree, and no protocol.
std::string kernel_name(program::CollectiveKind kind, program::ElementType type,
                        const CollectivePlan& plan);

}  // namespace trainscope::sim
