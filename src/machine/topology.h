// How the GPUs of a machine are wired: processors, PCIe switches, NVLinks, NVSwitches, network
// adapters, and the links between them.
//
// GPUs are numbered through all nodes: GPU 9 of a machine of nodes of eight is the second of
// node 1. Rates are bytes a second in each direction, times nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "machine/machine.h"

namespace trainscope::machine {

enum class PlaceKind { kGpu, kPcieSwitch, kHostBridge, kNvSwitch, kAdapter, kNetwork };
enum class WireKind { kPcie, kNvlink, kSocket, kNetwork };

// Something that links end at.
struct Place {
  PlaceKind kind = PlaceKind::kGpu;
  int node = 0;
  std::string name;  // "GPU 3", "PCIe switch 1", "adapter 0"
};

struct Wire {
  std::uint32_t a = 0;  // places
  std::uint32_t b = 0;
  WireKind kind = WireKind::kPcie;
  int links = 1;           // NVLinks side by side
  double bytes_per_s = 0;  // of all of them, each direction
  Nanos latency_ns = 0;    // of a message
};

struct Topology {
  std::vector<Place> places;  // the GPUs first, by number
  std::vector<Wire> wires;
  int gpus = 0;
  int gpus_per_node = 0;
};

// Latencies are those that NCCL's tuner gives a hop between two GPUs (nccl: src/graph/tuning.cc,
// LL), divided among the links of that hop.
Topology topology_of(const Machine& machine);

// The way that data take between two GPUs: over their NVLinks if they share any, else through an
// NVSwitch, else over PCIe and between processors, else over the network.
struct Path {
  std::vector<std::uint32_t> wires;  // from one to the other
  double bytes_per_s = 0;            // of the narrowest
  Nanos latency_ns = 0;              // of all together
  WireKind kind = WireKind::kPcie;   // of the wires that decide
};
// Throws InputError where nothing joins the two, or a GPU is not there.
Path path_between(const Topology& topology, int gpu_a, int gpu_b);

// What a ring reaches of PCIe's raw rate: 2 x L40S 15.8 of 31.5 GB/s (yumibyte/CS244C-Research).
inline constexpr double kPcieRingShare = 0.502;

// What joins the GPUs where their NVLinks, if any, are not used: PCIe.
GpuLink link_without_nvlinks(Machine machine);

// Throws InputError, naming the places: a wire that carries nothing, a GPU that no wire reaches.
void check(const Topology& topology);

// Throws InputError when the machine has fewer GPUs than `ranks`; `knob` asked for them.
void check_ranks(const Machine& machine, std::int64_t ranks, std::string_view knob);

// What `nvidia-smi topo -m` calls it: X, NV2, PIX (one switch), PXB (several), PHB (a host bridge),
// SYS (between processors), NET (not of one node; nvidia-smi shows one node).
std::string relation(const Topology& topology, int gpu_a, int gpu_b);

// The matrix of `nvidia-smi topo -m` for the GPUs of one node, as text.
std::string topology_matrix(const Machine& machine);

}  // namespace trainscope::machine
