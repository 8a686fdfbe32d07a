// Where GPUs stand in little room, and when their links are left out.
#include "ui/app/views/gpu_map.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "machine/ring.h"
#include "machine/topology_part.h"
#include "ui/app/views/gpu_grid.h"
#include "ui/panels/charts/free_place.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr ImVec2 kRooms[] = {{290, 60},  {446, 80},  {446, 99},   {290, 115}, {466, 165},
                             {336, 260}, {900, 165}, {1100, 380}, {160, 60}};

Box room_of(ImVec2 size) {
  return {{20, 30}, {20 + size.x, 30 + size.y}};
}

bool is_within(const Box& inner, const Box& outer) {
  return inner.min.x >= outer.min.x - 1 && inner.max.x <= outer.max.x + 1 &&
         inner.min.y >= outer.min.y - 1 && inner.max.y <= outer.max.y + 1;
}

machine::Topology many_nodes(int nodes) {
  machine::Topology topology = machine::topology_of(machine::load_machine("h200-8x2"));
  topology.gpus = nodes * topology.gpus_per_node;
  return topology;
}

std::vector<int> numbers(int count) {
  std::vector<int> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Cards of one size, apart from each other and from the bars, all in the room.
void check_map(const GpuMap& map, const Box& room) {
  REQUIRE(!map.gpus.empty());
  std::vector<Box> boxes;
  for (const GpuMap::Gpu& gpu : map.gpus) {
    CHECK(gpu.box.width() >= 3);
    CHECK(gpu.box.height() >= 3);
    CHECK(gpu.box.width() == map.gpus.front().box.width());
    CHECK(gpu.box.height() == map.gpus.front().box.height());
    boxes.push_back(gpu.box);
  }
  for (const GpuMap::Hub& hub : map.hubs) boxes.push_back(hub.box);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    CHECK(is_within(boxes[i], room));
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlaps(boxes[i], boxes[j]));
  }
}

}  // namespace

TEST_CASE("GPUs stand apart in every room that a panel may have") {
  const std::pair<const char*, int> groups[] = {
      {"h100-sxm-8", 2}, {"h100-sxm-8", 4}, {"h100-sxm-8", 8},     {"dgx1-v100-8", 8},
      {"l40s-4", 4},     {"h200-8x2", 16},  {"dgx1-v100-8x2", 16}, {"titan-rtx-2", 2}};
  for (const ImVec2 size : kRooms)
    for (const auto& [machine, ranks] : groups) {
      INFO(machine << ", " << ranks << " in " << size.x << " x " << size.y);
      const machine::Topology topology = machine::topology_of(machine::load_machine(machine));
      const Box room = room_of(size);
      check_map(lay_out_gpus(&topology, machine::ring_order(topology, ranks), room, 1), room);
    }
}

TEST_CASE("bars have names at their left where room is short, then none, then no links are shown") {
  const machine::Topology topology = machine::topology_of(machine::load_machine("h200-8x2"));
  const auto map_in = [&](ImVec2 size) {
    return lay_out_gpus(&topology, machine::ring_order(topology, 16), room_of(size), 1);
  };
  const auto named = [](const GpuMap& map) {
    return std::ranges::count_if(map.hubs, [](const auto& hub) { return hub.words.height() > 10; });
  };
  CHECK(named(map_in({1100, 380})) == 3);
  CHECK(named(map_in({466, 165})) == 3);
  const GpuMap low = map_in({446, 99});
  CHECK(low.shows_links);
  CHECK(low.hubs.size() == 3);
  CHECK(named(low) == 3);
  for (const GpuMap::Hub& hub : low.hubs) {
    CHECK(hub.words.width() > 50);
    for (const GpuMap::Gpu& gpu : low.gpus) CHECK_FALSE(overlaps(hub.words, gpu.box));
    CHECK_FALSE(overlaps(hub.words, hub.box));
  }
  const GpuMap narrow = map_in({330, 99});
  CHECK(narrow.shows_links);
  CHECK(named(narrow) == 0);
  const GpuMap lowest = map_in({446, 60});
  CHECK_FALSE(lowest.shows_links);
  CHECK(lowest.hubs.empty());
  CHECK(lowest.nodes.size() == 2);
  CHECK(lowest.route(0, 1).empty());
}

TEST_CASE("two GPUs of a group, a node each, stand at the network, which keeps its name") {
  for (const char* machine : {"h200-8x2", "dgx1-v100-8x2"}) {
    INFO(machine);
    const machine::Topology topology =
        machine::part_of(machine::topology_of(machine::load_machine(machine)), {0, 8});
    const Box room = room_of({1100, 200});
    const GpuMap map = lay_out_gpus(&topology, machine::ring_order(topology, 2), room, 1);
    check_map(map, room);
    CHECK(map.shows_links);
    REQUIRE(map.hubs.size() == 1);
    CHECK(map.hubs[0].names.front() == "network");
    CHECK(map.hubs[0].words.width() > 100);
    CHECK(map.hubs[0].words.height() > 10);
    const auto way = map.route(0, 1);
    REQUIRE(!way.empty());
    for (const ImVec2 at : way) {
      const Box chip{{at.x - map.chip, at.y - map.chip}, {at.x + map.chip, at.y + map.chip}};
      CHECK_FALSE(overlaps(chip, map.hubs[0].words));
    }
  }
}

TEST_CASE("what travels keeps clear of the words for the bars") {
  int looks = 0;
  for (const ImVec2 size : kRooms)
    for (const auto& [machine, ranks] : {std::pair{"h200-8x2", 16}, std::pair{"h100-sxm-8", 8},
                                         std::pair{"h100-sxm-8", 4}, std::pair{"l40s-4", 4}}) {
      INFO(machine << " in " << size.x << " x " << size.y);
      const machine::Topology topology = machine::topology_of(machine::load_machine(machine));
      const GpuMap map =
          lay_out_gpus(&topology, machine::ring_order(topology, ranks), room_of(size), 1);
      for (std::size_t i = 0; i < map.ring.size(); ++i) {
        const auto way = map.route(map.ring[i], map.ring[(i + 1) % map.ring.size()]);
        for (float share = 0; !way.empty() && share <= 1; share += 0.05F) {
          const ImVec2 at = along(way, share, map.chip + 1);
          const Box chip{{at.x - map.chip, at.y - map.chip}, {at.x + map.chip, at.y + map.chip}};
          for (const GpuMap::Hub& hub : map.hubs) {
            if (hub.words.height() <= 0) continue;
            ++looks;
            CHECK_FALSE(overlaps(chip, hub.words));
          }
        }
      }
    }
  CHECK(looks > 0);
}

TEST_CASE("of many nodes each has a frame with its GPUs in it") {
  int named = 0;
  for (const ImVec2 size : kRooms)
    for (const int nodes : {3, 8, 32}) {
      INFO(nodes << " nodes in " << size.x << " x " << size.y);
      const machine::Topology topology = many_nodes(nodes);
      const Box room = room_of(size);
      const GpuMap map = lay_out_gpus(&topology, numbers(8 * nodes), room, 1);
      REQUIRE(map.nodes.size() == static_cast<std::size_t>(nodes));
      if (nodes <= 8) check_map(map, room);
      for (const GpuMap::Gpu& gpu : map.gpus) {
        const GpuMap::Node& node = map.nodes[static_cast<std::size_t>(gpu.number / 8)];
        CHECK(node.number == gpu.number / 8);
        CHECK(is_within(gpu.box, node.frame));
        if (node.words.height() <= 0) continue;
        ++named;
        CHECK_FALSE(overlaps(gpu.box, node.words));
      }
      for (std::size_t i = 1; i < map.nodes.size(); ++i)
        CHECK_FALSE(overlaps(map.nodes[i].frame, map.nodes[i - 1].frame));
    }
  CHECK(named > 0);
}

TEST_CASE("two GPUs that send to each other over their own links do so side by side") {
  const machine::Topology topology = machine::topology_of(machine::load_machine("titan-rtx-2"));
  const GpuMap map =
      lay_out_gpus(&topology, machine::ring_order(topology, 2), room_of({466, 165}), 1);
  const ImVec2 there = along(map.route(0, 1), 0.5F), back = along(map.route(1, 0), 0.5F);
  CHECK(std::hypot(there.x - back.x, there.y - back.y) >= 2 * map.chip);
}

TEST_CASE("something that travels starts and ends clear of what it leaves and reaches") {
  const std::vector<ImVec2> line = {{0, 0}, {100, 0}};
  CHECK(along(line, 0, 10).x == Approx(10));
  CHECK(along(line, 0.5F, 10).x == Approx(50));
  CHECK(along(line, 1, 10).x == Approx(90));
  CHECK(along(line, 0, 60).x == Approx(50));
  CHECK(has_room(line, 60));
  CHECK_FALSE(has_room(line, 80));
}
