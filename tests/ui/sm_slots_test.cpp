// One SM of a kernel, block by block: which blocks, slots and free slots there are, and where.
#include "ui/app/views/sm_slots.h"

#include <catch2/catch.hpp>
#include <set>

#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr Box kBox{{10, 20}, {410, 148}};

// On an A100: 108 SMs of 64 warps and 65,536 registers.
sim::SmRun kernel(const char* grid, const char* threads = "kernel.block=1024",
                  const char* registers = "kernel.registers=64") {
  const RunPointer run =
      run_of("A", {"workload=kernel", "machine=a100-sxm-1", "steps=1", threads, registers, grid,
                   "kernel.flops_per_thread=100000", "kernel.bytes_per_thread=0"});
  return sim::run_alone(run->program->operations.at(0), run->machine->gpu);
}

SmSlots all_of(const sim::SmRun& run, int sm) {
  return lay_out_slots(run, sm, {0, run.waves}, run.duration, kBox);
}

std::vector<SlotBox> of_kind(const SmSlots& slots, SlotKind kind) {
  std::vector<SlotBox> found;
  for (const SlotBox& one : slots.boxes)
    if (one.kind == kind) found.push_back(one);
  return found;
}

bool overlap(const Box& a, const Box& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

void check_apart(const SmSlots& slots) {
  REQUIRE(!slots.boxes.empty());
  for (std::size_t i = 0; i < slots.boxes.size(); ++i) {
    const Box& box = slots.boxes[i].box;
    CHECK(box.min.x >= kBox.min.x);
    CHECK(box.max.x <= kBox.max.x + 0.5F);
    CHECK(box.min.y >= kBox.min.y);
    CHECK(box.max.y <= kBox.max.y + 0.5F);
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(overlap(box, slots.boxes[j].box));
  }
}

}  // namespace

TEST_CASE("the slots of all SMs hold each block of a kernel once") {
  const sim::SmRun run = kernel("kernel.grid=1500", "kernel.block=256", "kernel.registers=40");
  REQUIRE(slots_held(run) == 6);
  std::set<std::int64_t> blocks;
  for (int sm = 0; sm < run.sms; ++sm) {
    const SmSlots slots = all_of(run, sm);
    check_apart(slots);
    for (const SlotBox& one : of_kind(slots, SlotKind::kBlock)) {
      CHECK(one.block.sm == sm);
      CHECK(blocks.insert(one.block.block).second);
    }
  }
  CHECK(blocks.size() == 1500);
}

TEST_CASE("slots that the warps would do for and registers do not are unused, to scale") {
  const sim::SmRun run = kernel("kernel.grid=108");  // one block of 32 warps, where 64 fit
  CHECK(slots_held(run) == 1);
  CHECK(slots_by_warps(run) == 2);
  const SmSlots slots = all_of(run, 0);
  const auto unused = of_kind(slots, SlotKind::kUnused);
  REQUIRE(unused.size() == 1);
  CHECK(unused[0].box.min.y == kBox.centre().y);
  CHECK(slots.unused.height() == Approx(kBox.height() / 2));
  CHECK(of_kind(all_of(kernel("kernel.grid=108", "kernel.block=1024", "kernel.registers=32"), 0),
                SlotKind::kUnused)
            .empty());
}

TEST_CASE("warps too few for another block are a lower slot that is never used") {
  const sim::SmRun run = kernel("kernel.grid=216", "kernel.block=768", "kernel.registers=32");
  CHECK(slots_held(run) == 2);
  CHECK(slots_by_warps(run) == Approx(64.0 / 24));
  const auto unused = of_kind(all_of(run, 7), SlotKind::kUnused);
  REQUIRE(unused.size() == 1);
  CHECK(unused[0].box.height() == Approx(kBox.height() / 4).margin(1.5));
}

TEST_CASE("in the last wave an SM without a block waits, and one with fewer has slots left") {
  const sim::SmRun tail = kernel("kernel.grid=109");
  CHECK(of_kind(all_of(tail, 0), SlotKind::kIdle).empty());
  CHECK(of_kind(all_of(tail, 0), SlotKind::kBlock).size() == 2);
  const auto idle = of_kind(all_of(tail, 1), SlotKind::kIdle);
  REQUIRE(idle.size() == 1);
  CHECK(idle[0].box.min.x == Approx(kBox.centre().x).margin(1));

  // Two blocks an SM, of which the second is the last of SM 0 alone.
  const sim::SmRun fewer = kernel("kernel.grid=109", "kernel.block=512");
  REQUIRE(slots_held(fewer) == 2);
  CHECK(of_kind(all_of(fewer, 0), SlotKind::kBlock).size() == 2);
  CHECK(of_kind(all_of(fewer, 1), SlotKind::kBlock).size() == 1);
  CHECK(of_kind(all_of(fewer, 1), SlotKind::kEmpty).size() == 1);
}

TEST_CASE("an SM that gets no block of the only wave waits for none") {
  const SmSlots slots = all_of(kernel("kernel.grid=1"), 5);
  CHECK(of_kind(slots, SlotKind::kIdle).empty());
  CHECK(of_kind(slots, SlotKind::kBlock).empty());
  CHECK(of_kind(slots, SlotKind::kEmpty).size() == 1);
}

TEST_CASE("of many waves those around one are laid out, and no others") {
  const sim::SmRun run = kernel("kernel.grid=1000003");
  REQUIRE(run.waves > 9000);
  CHECK(waves_around(run, 0, 5) == WaveRange{0, 5});
  CHECK(waves_around(run, 100, 5) == WaveRange{98, 5});
  CHECK(waves_around(run, run.waves - 1, 5) == WaveRange{run.waves - 5, 5});
  CHECK(waves_around(kernel("kernel.grid=109"), 1, 5) == WaveRange{0, 2});
  const WaveRange waves{98, 5};
  const SmSlots slots = lay_out_slots(run, 3, waves, length_of(run, waves), kBox);
  CHECK(slots.boxes.size() == 6);  // five blocks, one slot unused
  CHECK(slots.boxes[0].block.block == 98 * 108 + 3);
  check_apart(slots);
}

TEST_CASE("what is under a point is found, and nothing beside it") {
  const SmSlots slots = all_of(kernel("kernel.grid=109"), 0);
  const SlotBox* second = slot_at(slots, {kBox.max.x - 20, kBox.min.y + 10});
  REQUIRE(second);
  CHECK(second->block.block == 108);
  const SlotBox* free = slot_at(slots, {kBox.min.x + 10, kBox.max.y - 10});
  REQUIRE(free);
  CHECK(free->kind == SlotKind::kUnused);
  CHECK_FALSE(slot_at(slots, {kBox.min.x - 1, kBox.min.y + 10}));
}
