// Rings through the GPUs of shipped machines.
#include "machine/ring.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "base/error.h"

using namespace trainscope;
using namespace trainscope::machine;

namespace {

std::vector<int> sorted(std::vector<int> order) {
  std::sort(order.begin(), order.end());
  return order;
}

std::vector<int> first(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

TEST_CASE("a ring of a DGX-1 keeps to pairs with two NVLinks, and closes") {
  const Topology topology = topology_of(load_machine("dgx1-v100-8"));
  const std::vector<int> ring = ring_order(topology, 8);
  CHECK(sorted(ring) == first(8));
  for (std::size_t i = 0; i < ring.size(); ++i)
    CHECK(relation(topology, ring[i], ring[(i + 1) % ring.size()]) == "NV2");
}

TEST_CASE("part of a mesh has a ring as long as its links allow one") {
  const Topology topology = topology_of(load_machine("dgx1-v100-8"));
  for (const int count : {2, 3, 4}) {
    const std::vector<int> ring = ring_order(topology, count);
    CHECK(sorted(ring) == first(count));
    for (std::size_t i = 0; i < ring.size(); ++i)
      CHECK(path_between(topology, ring[i], ring[(i + 1) % ring.size()]).kind == WireKind::kNvlink);
  }
}

TEST_CASE("where any two GPUs are as near, a ring goes by number; node after node") {
  CHECK(ring_order(topology_of(load_machine("h200-8")), 8) == first(8));
  CHECK(ring_order(topology_of(load_machine("l40s-4")), 4) == first(4));
  CHECK(ring_order(topology_of(load_machine("h200-8x2")), 16) == first(16));
  const std::vector<int> nodes = ring_order(topology_of(load_machine("dgx1-v100-8x2")), 16);
  CHECK(sorted(nodes) == first(16));
  CHECK(*std::max_element(nodes.begin(), nodes.begin() + 8) == 7);
  CHECK(ring_order(topology_of(load_machine("h200-1")), 1) == first(1));
  CHECK_THROWS_AS(ring_order(topology_of(load_machine("l40s-2")), 3), InputError);
}
