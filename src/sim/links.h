// The links of a machine as transfers see them: each direction of each, what it carries, and which
// of them lie between two GPUs, or a GPU and its host.
//
// The NVLinks of a GPU count as one link out and one in, of all that they carry together: NCCL's
// channels go over all of them. The adapters of a node likewise. PCIe is each wire of its tree; it
// carries what the faster direction of a GPU's copies reaches (assumed for what is between switches
// as well). What joins two processors carries its own rate.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "machine/machine.h"
#include "machine/topology.h"
#include "sim/link_rates.h"

namespace trainscope::sim {

// How data get from one GPU of a node to another.
enum class Way : std::uint8_t { kNvlink, kPcie, kThroughHost };

class Links {
 public:
  explicit Links(const machine::Machine& machine);

  const std::vector<double>& bytes_per_s() const { return rates_; }

  // The links from one GPU to another; between two nodes, their adapters. They stay.
  Route between(int from, int to, Way way);
  // Between a GPU and its host's memory, with what both directions share.
  Route to_gpu(int gpu);
  Route from_gpu(int gpu);

 private:
  LinkId add(double bytes_per_s);
  void add_wires(const machine::Machine& machine);
  LinkId directed(std::uint32_t wire, std::uint32_t from) const;
  std::vector<LinkId> up_from(int gpu) const;
  std::vector<LinkId> down_to(int gpu) const;
  std::vector<LinkId> over_pcie(int from, int to) const;

  machine::Topology wires_;  // without NVLinks
  std::vector<double> rates_;
  LinkId first_wire_ = 0;                   // two links a wire
  std::vector<LinkId> out_, in_, both_;     // by GPU
  std::vector<LinkId> node_out_, node_in_;  // by node
  enum class End : std::uint8_t { kGpus, kToGpu, kFromGpu };
  std::map<std::tuple<End, Way, int, int>, std::vector<LinkId>> routes_;
};

}  // namespace trainscope::sim
