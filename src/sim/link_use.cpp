#include "sim/link_use.h"

#include <algorithm>
#include <cmath>

#include "sim/collectives/rank_group.h"
#include "sim/shared_rate.h"

namespace trainscope::sim {
namespace {

constexpr double kTenths = 10.0;  // of a percent: finer is not written

double rate_of(const CollectivePlan& plan) {
  return plan.wire_bytes / static_cast<double>(std::max<Nanos>(plan.duration, 1));
}

bool have_peers(const program::Program& program) {
  return std::ranges::all_of(program.communicators, &program::Communicator::peer_to_peer);
}

}  // namespace

LinkUse::LinkUse(const program::Program& program, const machine::Machine& machine,
                 Recorder& recorder)
    : machine_(machine),
      recorder_(recorder),
      over_nvlinks_(machine.gpu_link.is_nvlink() && have_peers(program)),
      gpu_carries_((over_nvlinks_
                        ? machine.gpu_link.bytes_per_s
                        : std::max(machine.pcie.h2d_bytes_per_s, machine.pcie.d2h_bytes_per_s)) *
                   kPerNs),
      node_carries_(machine.network.bytes_per_s * kPerNs),
      gpus_(static_cast<std::size_t>(gpus_to_the_last(program))),
      nodes_(static_cast<std::size_t>(machine.nodes)) {}

void LinkUse::begin(Nanos now, int gpu, const program::Communicator& group,
                    const CollectivePlan& plan) {
  change(now, gpu, group, rate_of(plan));
}

void LinkUse::end(Nanos now, int gpu, const program::Communicator& group,
                  const CollectivePlan& plan) {
  change(now, gpu, group, -rate_of(plan));
}

// What crosses to a node does so once in each group: its first GPU there speaks for it, and where
// one rank stands for all, for the groups alike, too. Where it has no other GPU in the node,
// nothing comes over the links between them.
void LinkUse::change(Nanos now, int gpu, const program::Communicator& group, double bytes_per_ns) {
  if (group.ranks < 2) return;
  const int node = gpu / machine_.gpu_count;
  int first = gpu, members = 0;
  for (int rank = 0; rank < group.ranks; ++rank) {
    const int other = group.gpu_of(rank);
    if (other / machine_.gpu_count != node) continue;
    first = std::min(first, other);
    ++members;
  }
  if (members > 1) {
    Counter& own = gpus_[static_cast<std::size_t>(gpu)];
    own.collectives += bytes_per_ns;
    sample(now, own, gpu_carries_, gpu, false);
  }
  if (members == group.ranks || gpu != first) return;
  const int groups = group.simulated < group.ranks ? groups_in_node(machine_, group, node) : 1;
  Counter& adapters = nodes_[static_cast<std::size_t>(node)];
  adapters.collectives += groups * bytes_per_ns;
  sample(now, adapters, node_carries_, node, true);
}

void LinkUse::copies(Nanos now, int gpu, double bytes_per_ns) {
  Counter& counter = gpus_[static_cast<std::size_t>(gpu)];
  counter.copies = bytes_per_ns;
  sample(now, counter, gpu_carries_, gpu, false);
}

void LinkUse::sample(Nanos now, Counter& counter, double carries, int which, bool network) {
  const double share = (counter.collectives + counter.copies) / carries;
  const double percent = std::abs(std::round(share * 100 * kTenths)) / kTenths;
  if (percent == counter.shown) return;
  if (counter.lane == trace::kNone)
    counter.lane = network         ? recorder_.add_network_use_lane(which)
                   : over_nvlinks_ ? recorder_.add_link_use_lane(which, "NVLink in, %")
                                   : recorder_.add_link_use_lane(which, "PCIe in, %");
  recorder_.trace().add_sample({now, percent, counter.lane});
  counter.shown = percent;
}

}  // namespace trainscope::sim
