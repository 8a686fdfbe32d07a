#include "sim/collectives/chunk_schedule.h"

#include <algorithm>
#include <cmath>

#include "machine/ring.h"
#include "machine/tree.h"

namespace trainscope::sim {
namespace {

using program::CollectiveKind;

int modulo(int value, int n) {
  return ((value % n) + n) % n;
}

bool is_sliced(Algorithm algorithm, CollectiveKind kind) {
  return algorithm == Algorithm::kTree || kind == CollectiveKind::kBroadcast ||
         kind == CollectiveKind::kReduce;
}

// ---- Rings -------------------------------------------------------------------------------------

class Ring {
 public:
  Ring(std::vector<int> order, ChunkSchedule& schedule)
      : order_(std::move(order)), schedule_(schedule), n_(schedule.ranks) {}

  // Once around: from each place, the part that is so far before it; n - 1 steps.
  void turn(int first_step, int offset, bool reduces) {
    for (int step = 0; step < n_ - 1; ++step)
      for (int place = 0; place < n_; ++place)
        send(place, part(place - step + offset), first_step + step, reduces);
    schedule_.steps = schedule_.hops = first_step + n_ - 1;
  }

  // Slices one after the other along the ring, from the root or to it (rank 0).
  void line(bool reduces) {
    const auto root = std::find(order_.begin(), order_.end(), 0) - order_.begin();
    const int first = static_cast<int>(root) + (reduces ? 1 : 0);
    schedule_.hops = n_ - 1;
    schedule_.steps = schedule_.chunks + n_ - 2;
    for (int step = 0; step < schedule_.steps; ++step)
      for (int hop = 0; hop < n_ - 1; ++hop)
        if (const int slice = step - hop; slice >= 0 && slice < schedule_.chunks)
          send(modulo(first + hop, n_), slice, step, reduces);
  }

 private:
  // Chunks of parts have the number of the rank whose they are.
  int part(int place) const { return order_[static_cast<std::size_t>(modulo(place, n_))]; }
  void send(int place, int chunk, int step, bool reduces) {
    schedule_.sends.push_back({part(place), part(place + 1), chunk, step, reduces});
  }

  std::vector<int> order_;
  ChunkSchedule& schedule_;
  int n_;
};

void add_ring(std::vector<int> order, CollectiveKind kind, ChunkSchedule& schedule) {
  Ring ring(std::move(order), schedule);
  switch (kind) {
    case CollectiveKind::kAllReduce:
      ring.turn(0, 0, true);
      return ring.turn(schedule.ranks - 1, 1, false);
    case CollectiveKind::kReduceScatter:  // each ends with the sum of its own part
      return ring.turn(0, -1, true);
    case CollectiveKind::kAllGather:
      return ring.turn(0, 0, false);
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kSendReceive:
      return ring.line(false);
    case CollectiveKind::kReduce:
      return ring.line(true);
  }
}

// ---- Trees -------------------------------------------------------------------------------------

int depth_below_root(const machine::Tree& tree, int gpu) {
  int depth = 0;
  for (int at = tree.parent[static_cast<std::size_t>(gpu)]; at >= 0;
       at = tree.parent[static_cast<std::size_t>(at)])
    ++depth;
  return depth;
}

// A slice goes up a level a step, and from the root down a level a step. Slices take turns on the
// trees.
void add_trees(const std::vector<machine::Tree>& trees, ChunkSchedule& schedule) {
  schedule.trees = static_cast<int>(trees.size());
  for (const machine::Tree& tree : trees) schedule.hops = std::max(schedule.hops, 2 * tree.depth);
  for (int gpu = 0; gpu < schedule.ranks; ++gpu)
    for (int slice = 0; slice < schedule.chunks; ++slice) {
      const machine::Tree& tree = trees[static_cast<std::size_t>(slice % schedule.trees)];
      const int parent = tree.parent[static_cast<std::size_t>(gpu)];
      if (parent < 0) continue;
      const int depth = depth_below_root(tree, gpu), turn = slice / schedule.trees;
      schedule.sends.push_back({gpu, parent, slice, turn + tree.depth - depth, true});
      schedule.sends.push_back({parent, gpu, slice, turn + tree.depth + depth - 1, false});
    }
  std::stable_sort(schedule.sends.begin(), schedule.sends.end(),
                   [](const ChunkSend& a, const ChunkSend& b) { return a.step < b.step; });
  schedule.steps = schedule.sends.empty() ? 0 : schedule.sends.back().step + 1;
}

ChunkSchedule empty_schedule(Algorithm algorithm, CollectiveKind kind, int ranks, int slices) {
  ChunkSchedule schedule;
  schedule.ranks = ranks;
  schedule.chunks = is_sliced(algorithm, kind) ? std::max(1, slices) : ranks;
  return schedule;
}

}  // namespace

bool has_schedule(Algorithm algorithm) {
  return algorithm != Algorithm::kNvls;
}

ChunkSchedule chunk_schedule(const machine::Topology& topology, Algorithm algorithm,
                             CollectiveKind kind, int ranks, int slices) {
  ChunkSchedule schedule = empty_schedule(algorithm, kind, ranks, slices);
  if (ranks < 2) return schedule;
  if (algorithm == Algorithm::kTree)
    add_trees(machine::trees_of(topology, ranks), schedule);
  else
    add_ring(machine::ring_order(topology, ranks), kind, schedule);
  return schedule;
}

ChunkSchedule ring_schedule(std::vector<int> order, CollectiveKind kind, int slices) {
  const int ranks = static_cast<int>(order.size());
  ChunkSchedule schedule = empty_schedule(Algorithm::kRing, kind, ranks, slices);
  if (ranks > 1) add_ring(std::move(order), kind, schedule);
  return schedule;
}

int slices_of(const CollectivePlan& plan, CollectiveKind kind, std::int64_t bytes, int hops,
              int trees) {
  if (!is_sliced(plan.algorithm, kind)) return 1;
  constexpr double kHundred = 100;
  const double bytes_ns = static_cast<double>(bytes) / plan.bytes_per_s * 1e9;
  const double by_bytes = kHundred * hops;
  const double by_latency = std::ceil(kHundred * bytes_ns * hops / plan.hops_ns());
  return trees * std::max(1, static_cast<int>(std::min(by_bytes, by_latency)));
}

}  // namespace trainscope::sim
