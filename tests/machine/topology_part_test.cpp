// What joins some GPUs of a machine alone.
#include "machine/topology_part.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "machine/ring.h"

using namespace trainscope;
using namespace trainscope::machine;
using Catch::Matchers::Contains;

namespace {

Topology whole_of(const char* machine) {
  return topology_of(load_machine(machine));
}

int count_of(const Topology& topology, PlaceKind kind) {
  return static_cast<int>(std::ranges::count(topology.places, kind, &Place::kind));
}

}  // namespace

TEST_CASE("a GPU of each node is joined with the other's by the network alone") {
  for (const char* machine : {"dgx1-v100-8x2", "h200-8x2"}) {
    CAPTURE(machine);
    const Topology whole = whole_of(machine), part = part_of(whole, {0, 8});
    CHECK(part.gpus == 2);
    CHECK(part.gpus_per_node == 1);
    CHECK(part.places[0].name == whole.places[0].name);
    CHECK(part.places[1].name == whole.places[8].name);
    CHECK(count_of(part, PlaceKind::kNvSwitch) == 0);
    CHECK(count_of(part, PlaceKind::kNetwork) == 1);
    CHECK(path_between(part, 0, 1).kind == WireKind::kNetwork);
    CHECK(path_between(part, 0, 1).bytes_per_s == path_between(whole, 0, 8).bytes_per_s);
    CHECK(ring_order(part, 2) == std::vector<int>{0, 1});
  }
}

TEST_CASE("paths within a part are those of the whole, and every place leads somewhere") {
  for (const char* machine : {"dgx1-v100-8", "h200-8", "l40s-4", "h200-8x2"}) {
    CAPTURE(machine);
    const Topology whole = whole_of(machine);
    std::vector<int> even;
    for (int gpu = 0; gpu < whole.gpus; gpu += 2) even.push_back(gpu);
    const Topology part = part_of(whole, even);
    CHECK_NOTHROW(check(part));
    for (std::size_t a = 0; a < even.size(); ++a)
      for (std::size_t b = a + 1; b < even.size(); ++b) {
        const Path in_part = path_between(part, static_cast<int>(a), static_cast<int>(b));
        const Path in_whole = path_between(whole, even[a], even[b]);
        CHECK(in_part.kind == in_whole.kind);
        CHECK(in_part.bytes_per_s == in_whole.bytes_per_s);
        CHECK(in_part.latency_ns == in_whole.latency_ns);
      }
    for (std::uint32_t i = 0; i < part.places.size(); ++i) {
      const auto wires = std::ranges::count_if(
          part.wires, [&](const Wire& wire) { return wire.a == i || wire.b == i; });
      CHECK(wires >= (part.places[i].kind == PlaceKind::kGpu ? 1 : 2));
    }
  }
}

TEST_CASE("all GPUs are the whole, but for what leads nowhere") {
  const Topology whole = whole_of("dgx1-v100-8");
  const Topology part = part_of(whole, {0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(part.gpus == whole.gpus);
  CHECK(part.gpus_per_node == whole.gpus_per_node);
  CHECK(part.wires.size() == whole.wires.size());
}

TEST_CASE("a part of GPUs that are not there, or not as many in each node, is refused") {
  const Topology whole = whole_of("h200-8x2");
  CHECK_THROWS_WITH(part_of(whole, {0, 16}), Contains("there is no GPU 16"));
  CHECK_THROWS_WITH(part_of(whole, {0, 1, 8}), Contains("another number of GPUs in one node"));
}
