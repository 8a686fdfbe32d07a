#include "sim/collectives/collective_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "sim/collectives/rank_group.h"

namespace trainscope::sim {
namespace {

using program::CollectiveKind;

// nccl: src/graph/tuning.cc, in microseconds and GB/s; by protocol: LL, LL128, Simple.
using ByProtocol = std::array<double, 3>;
constexpr ByProtocol kTreeBase{6.8, 14.0, 8.4};
constexpr ByProtocol kRingBase{6.6, 14.0, 8.4};

struct HopTimes {
  ByProtocol tree;
  ByProtocol ring;
};
constexpr HopTimes kNvlinkHop{{0.6, 1.25, 4.0}, {0.6, 1.9, 3.4}};
constexpr HopTimes kPcieHop{{1.0, 1.9, 4.0}, {1.0, 2.5, 5.7}};
constexpr HopTimes kNetworkHop{{5.0, 8.5, 14.0}, {2.7, 4.0, 14.0}};
constexpr double kNvlsTime = 25.0;

// nccl: src/transport/nvls.cc, NVLS_NCHANNELS and NVLS_CHUNKSIZE.
constexpr std::int64_t kNvlsChannels = 16;
constexpr std::int64_t kNvlsChunk = 128 * 1024;

// Trees do not keep to the model at medium sizes: 64 B, 128 B, and so on to 128 MiB.
constexpr std::array<std::array<double, 22>, 3> kTreeCorrection{{
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .5, .6, .6, .7, .7, .8, .9, .9, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5, .5, .5, .5, .5, .5, .6, .6, .7, .8, .9},
}};

// Most that LL reaches on one node, by architecture: Volta, Ampere, Hopper, Blackwell.
double most_of_ll(const machine::Gpu& gpu) {
  if (gpu.compute_capability < 8) return 39.0;
  if (gpu.compute_capability < 9) return 87.7;
  return gpu.compute_capability < 10 ? 141.0 : 282.0;
}

// What all channels take at once of a buffer that the switch reduces: a chunk for each rank,
// smaller ones of small buffers (nccl: src/enqueue.cc, calcCollChunking).
std::int64_t nvls_loop(std::int64_t bytes, int ranks) {
  const std::int64_t at_once = kNvlsChannels * ranks;
  std::int64_t chunk = kNvlsChunk;
  for (const auto& [loops, smaller] : {std::pair{64, 65536}, std::pair{8, 32768}, {2, 16384}})
    if (bytes < loops * at_once * chunk) chunk = std::min<std::int64_t>(chunk, smaller);
  return std::min(bytes, at_once * chunk);
}

// What a ring's channels take at once with Simple: of each rank one of the eight steps of a buffer
// of 4 MiB (nccl: src/init.cc).
constexpr std::int64_t kStep = 512 * 1024;

int ring_steps(CollectiveKind kind, int ranks) {
  if (kind == CollectiveKind::kAllReduce) return 2 * (ranks - 1);
  const bool pieces = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
  return pieces ? ranks - 1 : ranks;
}

class Tuner {
 public:
  Tuner(const machine::Machine& machine, const Group& group, CollectiveKind kind,
        std::int64_t bytes)
      : machine_(machine), group_(group), kind_(kind), bytes_(bytes) {}

  bool offers(Algorithm algorithm, Protocol protocol) const {
    if (protocol == Protocol::kLl128 && !group_.nvlink) return false;
    switch (algorithm) {
      case Algorithm::kRing:
        return true;
      case Algorithm::kTree:
        return kind_ == CollectiveKind::kAllReduce;
      case Algorithm::kNvls:
        return group_.nvls > 0 && protocol == Protocol::kSimple && !moves_one_way();
    }
    return false;
  }

  CollectivePlan plan(Algorithm algorithm, Protocol protocol) const {
    CollectivePlan plan;
    plan.algorithm = algorithm;
    plan.protocol = protocol;
    plan.channels = group_.channels;
    plan.way = group_.nvlink ? Way::kNvlink : group_.peers ? Way::kPcie : Way::kThroughHost;
    const auto p = static_cast<std::size_t>(protocol);
    double microseconds = 0, base = 0, rate = 0;  // GB/s
    switch (algorithm) {
      case Algorithm::kRing:
        rate = ring_rate(protocol) * group_.ranks / ring_steps(kind_, group_.ranks);
        base = kRingBase[p];
        microseconds = base + ring_latency(p);
        break;
      case Algorithm::kTree:
        rate = tree_rate(protocol) * 0.5;
        base = kTreeBase[p];
        microseconds = base + 2 * ((group_.per_node() - 1) * hop().tree[p] +
                                   doublings() * kNetworkHop.tree[p]);
        break;
      case Algorithm::kNvls:
        rate = nvls_bytes();
        microseconds = base = kNvlsTime;
        plan.channels = std::min<int>(plan.channels, kNvlsChannels);
        break;
    }
    plan.latency_ns = microseconds * 1e3;
    plan.base_ns = base * 1e3;
    plan.bytes_per_s = rate * 1e9;
    const auto bytes = static_cast<double>(bytes_);
    plan.predicted = static_cast<Nanos>(std::ceil(plan.latency_ns + bytes / rate));
    if (algorithm == Algorithm::kNvls && kind_ == CollectiveKind::kAllReduce)
      plan.latency_ns += static_cast<double>(nvls_loop(bytes_, group_.ranks)) / rate;
    if (algorithm == Algorithm::kRing && protocol == Protocol::kSimple && !moves_one_way())
      plan.latency_ns = plan.base_ns + plan.hops_ns() * part_of_loop_missing();
    if (algorithm == Algorithm::kRing && crosses_nodes_one_way())
      plan.latency_ns = plan.base_ns + chain_latency(p) * 1e3;
    plan.duration = static_cast<Nanos>(std::ceil(plan.latency_ns + bytes / rate));
    plan.wire_bytes = bytes * wire_factor(algorithm, kind_, group_.ranks);
    // What crosses is written into the neighbour's memory, read there and joined with what is
    // there.
    constexpr double kAccesses = 3;
    plan.memory_bytes = kAccesses * plan.wire_bytes;
    return plan;
  }

 private:
  bool moves_one_way() const {
    return kind_ == CollectiveKind::kBroadcast || kind_ == CollectiveKind::kReduce ||
           kind_ == CollectiveKind::kSendReceive;
  }
  // The file's rate is an all-reduce's; anything else has the same wires, and needs them as much as
  // it sends.
  double nvls_bytes() const {
    constexpr auto kSum = CollectiveKind::kAllReduce;
    const auto wires = [&](CollectiveKind kind) {
      return wire_factor(Algorithm::kNvls, kind, group_.ranks);
    };
    return group_.nvls / bus_factor(kSum, group_.ranks) * wires(kSum) / wires(kind_);
  }
  const HopTimes& hop() const { return group_.nvlink ? kNvlinkHop : kPcieHop; }
  int doublings() const { return std::bit_width(static_cast<unsigned>(group_.nodes)) - 1; }

  double ring_rate(Protocol protocol) const {
    if (protocol == Protocol::kLl) return std::min(most_of_ll(machine_.gpu), 0.5 * group_.ring);
    return protocol == Protocol::kLl128 ? 0.92 * group_.ring : group_.ring;
  }
  double tree_rate(Protocol protocol) const {
    double rate = 0.92 * group_.ring;
    if (protocol == Protocol::kLl) rate = std::min(rate / 3.8, most_of_ll(machine_.gpu));
    if (protocol == Protocol::kLl128) rate *= group_.nodes == 1 ? 7.0 / 9 : 120.0 / 128;
    const int size = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes_) >> 6)) - 1;
    const auto& correction = kTreeCorrection[static_cast<std::size_t>(protocol)];
    const bool corrected = size >= 0 && size < static_cast<int>(correction.size());
    return corrected ? rate * correction[static_cast<std::size_t>(size)] : rate;
  }
  double ring_latency(std::size_t p) const {
    const int steps = kind_ == CollectiveKind::kSendReceive ? 1 : ring_steps(kind_, group_.ranks);
    if (moves_one_way()) return group_.nodes == 1 ? hop().ring[p] : steps * kNetworkHop.ring[p];
    const int per_turn = kind_ == CollectiveKind::kAllReduce ? 2 : 1;
    const int between = per_turn * (group_.nodes - 1);
    const double latency = (steps - between) * hop().ring[p] + between * kNetworkHop.ring[p];
    return latency * plateau(p);
  }
  bool crosses_nodes_one_way() const {
    return moves_one_way() && kind_ != CollectiveKind::kSendReceive && group_.nodes > 1;
  }
  // Once along the ring, from the first rank to the last. The tuner takes every hop for one of the
  // network, and more of them (`ring_latency`): that is for its choice, not for how long it takes.
  double chain_latency(std::size_t p) const {
    const int between = group_.nodes - 1, within = group_.ranks - group_.nodes;
    return within * hop().ring[p] + between * kNetworkHop.ring[p];
  }
  double part_of_loop_missing() const {
    const std::int64_t loop = kStep * group_.channels * group_.ranks;
    return std::max(0.0, 1 - static_cast<double>(bytes_) / static_cast<double>(loop));
  }
  // Of rings across nodes, once every rank has a piece to send.
  double plateau(std::size_t p) const {
    const bool large = bytes_ / (std::int64_t{group_.channels} * group_.ranks) >= 64;
    const bool applies = p == static_cast<std::size_t>(Protocol::kSimple) && group_.nodes > 1 &&
                         kind_ == CollectiveKind::kAllReduce && large;
    if (!applies) return 1;
    return machine_.gpu.compute_capability < 8 ? 1.9 : 1.4;
  }

  const machine::Machine& machine_;
  const Group& group_;
  CollectiveKind kind_;
  std::int64_t bytes_;
};

// A rank alone: NCCL copies within the device, or does nothing at all in place.
CollectivePlan alone(const machine::Machine& machine) {
  CollectivePlan plan;
  plan.duration = machine.gpu.kernel_floor_ns;
  plan.bytes_per_s = std::numeric_limits<double>::max();
  return plan;
}

// What one rank sends to another has all of the link between the two, and no ring's: NCCL's tuner
// has no say. Up to 16 KiB the protocol is LL, then Simple (nccl: src/enqueue.cc, P2pLLThreshold).
CollectivePlan plan_of_pair(const machine::Machine& machine,
                            const program::Communicator& communicator, std::int64_t bytes) {
  constexpr std::int64_t kMostOfLl = 16 * 1024;
  const Group pair = pair_of(machine, communicator);
  const Protocol protocol = bytes <= kMostOfLl ? Protocol::kLl : Protocol::kSimple;
  return Tuner(machine, pair, CollectiveKind::kSendReceive, bytes).plan(Algorithm::kRing, protocol);
}

bool chosen(std::string_view word, std::string_view name) {
  return word == "auto" || word == name;
}

}  // namespace

std::string_view name_of(Algorithm algorithm) {
  constexpr std::array<std::string_view, 3> kNames{"tree", "ring", "nvls"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

std::string_view name_of(Protocol protocol) {
  constexpr std::array<std::string_view, 3> kNames{"ll", "ll128", "simple"};
  return kNames[static_cast<std::size_t>(protocol)];
}

std::vector<CollectivePlan> collective_plans(const machine::Machine& machine,
                                             const program::Communicator& communicator,
                                             CollectiveKind kind, std::int64_t bytes) {
  if (communicator.ranks == 1) return {alone(machine)};
  if (kind == CollectiveKind::kSendReceive) return {plan_of_pair(machine, communicator, bytes)};
  const Group group = group_of(machine, communicator);
  const Tuner tuner(machine, group, kind, bytes);
  std::vector<CollectivePlan> plans;
  for (const Algorithm algorithm : {Algorithm::kTree, Algorithm::kRing, Algorithm::kNvls})
    for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple})
      if (chosen(communicator.algorithm, name_of(algorithm)) &&
          chosen(communicator.protocol, name_of(protocol)) && tuner.offers(algorithm, protocol))
        plans.push_back(tuner.plan(algorithm, protocol));
  if (plans.empty())
    throw InputError(fmt::format(
        "collective.algorithm = {} with collective.protocol = {} cannot carry out {} for {} ranks "
        "of {}: trees only all-reduce, ll128 needs NVLink, nvls a switch that adds (from Hopper "
        "on), "
        "more than two ranks of one node, and simple; write auto",
        communicator.algorithm, communicator.protocol, program::name_of(kind), communicator.ranks,
        machine.id));
  std::stable_sort(
      plans.begin(), plans.end(),
      [](const CollectivePlan& a, const CollectivePlan& b) { return a.predicted < b.predicted; });
  return plans;
}

CollectivePlan plan_collective(const machine::Machine& machine,
                               const program::Communicator& communicator, CollectiveKind kind,
                               std::int64_t bytes) {
  return collective_plans(machine, communicator, kind, bytes).front();
}

double bus_factor(CollectiveKind kind, int ranks) {
  const double n = ranks;
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return (n - 1) / n;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
    case CollectiveKind::kSendReceive:
      break;
  }
  return 1;
}

double wire_factor(Algorithm algorithm, CollectiveKind kind, int ranks) {
  if (algorithm != Algorithm::kNvls) return bus_factor(kind, ranks);
  const double n = ranks;
  return kind == CollectiveKind::kAllReduce ? (n + 1) / n : 1;
}

std::string kernel_name(CollectiveKind kind, program::ElementType type,
                        const CollectivePlan& plan) {
  if (kind == CollectiveKind::kSendReceive) return "ncclDevKernel_SendRecv";
  constexpr std::array<std::string_view, 5> kKinds{"AllReduce_Sum", "AllGather",
                                                   "ReduceScatter_Sum", "Broadcast", "Reduce_Sum"};
  const std::string_view word = kKinds[static_cast<std::size_t>(kind)];
  const char* numbers = !word.ends_with("_Sum")               ? ""
                        : type == program::ElementType::kFp16 ? "_f16"
                        : type == program::ElementType::kBf16 ? "_bf16"
                                                              : "_f32";
  return fmt::format("ncclDevKernel_{}{}_{}_LL", word, numbers,
                     plan.algorithm == Algorithm::kTree ? "TREE" : "RING");
}

}  // namespace trainscope::sim
