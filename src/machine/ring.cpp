#include "machine/ring.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace trainscope::machine {
namespace {

// NVLinks that two GPUs share without a switch between them.
class Mesh {
 public:
  Mesh(const Topology& topology, int first, int count)
      : count_(count), links_(static_cast<std::size_t>(count * count), 0) {
    for (const Wire& wire : topology.wires) {
      if (wire.kind != WireKind::kNvlink) continue;
      const int a = static_cast<int>(wire.a) - first, b = static_cast<int>(wire.b) - first;
      if (a < 0 || b < 0 || a >= count || b >= count) continue;
      links_[at(a, b)] = links_[at(b, a)] = wire.links;
    }
  }
  int links(int a, int b) const { return links_[at(a, b)]; }

 private:
  std::size_t at(int a, int b) const { return static_cast<std::size_t>(a * count_ + b); }
  int count_;
  std::vector<int> links_;
};

// Tries every order from GPU 0 on; a node has few GPUs.
class Search {
 public:
  Search(const Mesh& mesh, int count, bool closes) : mesh_(mesh), count_(count), closes_(closes) {}

  std::vector<int> best() {
    order_ = {0};
    extend();
    return best_;
  }

 private:
  // A ring is as quick as its narrowest link.
  void extend(int narrowest = 1 << 20) {
    if (narrowest <= most_) return;
    if (static_cast<int>(order_.size()) == count_) {
      if (closes_) narrowest = std::min(narrowest, mesh_.links(order_.back(), order_.front()));
      if (narrowest <= most_) return;
      most_ = narrowest;
      best_ = order_;
      return;
    }
    for (int next = 1; next < count_; ++next) {
      const int links = mesh_.links(order_.back(), next);
      if (links == 0 || std::find(order_.begin(), order_.end(), next) != order_.end()) continue;
      order_.push_back(next);
      extend(std::min(narrowest, links));
      order_.pop_back();
    }
  }

  const Mesh& mesh_;
  int count_;
  bool closes_;
  int most_ = 0;
  std::vector<int> order_, best_;
};

constexpr int kMostTried = 10;

}  // namespace

std::vector<int> ring_order(const Topology& topology, int count) {
  if (count > topology.gpus)
    throw InputError("a ring of " + std::to_string(count) + " GPUs does not fit a machine of " +
                     std::to_string(topology.gpus));
  std::vector<int> ring;
  for (int first = 0; first < count; first += topology.gpus_per_node) {
    const int here = std::min(topology.gpus_per_node, count - first);
    std::vector<int> order;
    if (here > 1 && here <= kMostTried)
      order = Search(Mesh(topology, first, here), here, here == count).best();
    for (int i = 0; i < here; ++i)
      ring.push_back(first + (order.empty() ? i : order[static_cast<std::size_t>(i)]));
  }
  return ring;
}

}  // namespace trainscope::machine
