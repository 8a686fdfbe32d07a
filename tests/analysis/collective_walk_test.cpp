// A collective step by step, in numbers.
#include "analysis/views/collective_walk.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>

#include "analysis/runs/run.h"

using namespace trainscope;
using namespace trainscope::analysis;
using program::CollectiveKind;

namespace {

sim::ChunkSchedule schedule_of(const char* id, sim::Algorithm algorithm, CollectiveKind kind,
                               int ranks) {
  return sim::chunk_schedule(machine::topology_of(machine::load_machine(id)), algorithm, kind,
                             ranks, kShownSlices);
}

int sum_of(int chunk, int ranks) {
  int sum = 0;
  for (int rank = 0; rank < ranks; ++rank) sum += first_number(rank, chunk);
  return sum;
}

Run run_of(const std::vector<std::string>& settings) {
  program::Config config;
  for (const std::string& setting : settings) config.set_text(setting);
  return run_config("A", config);
}

}  // namespace

TEST_CASE("each cell is the sum of the numbers of the ranks that are said to be in it") {
  for (const auto algorithm : {sim::Algorithm::kRing, sim::Algorithm::kTree}) {
    const auto schedule = schedule_of("h200-8x2", algorithm, CollectiveKind::kAllReduce, 16);
    for (int step = 0; step <= schedule.steps; ++step) {
      const ChunkTable table = chunk_table(schedule, step);
      bool right = true;
      for (std::size_t rank = 0; rank < table.cells.size(); ++rank)
        for (std::size_t chunk = 0; chunk < table.cells[rank].size(); ++chunk) {
          const ChunkCell& cell = table.cells[rank][chunk];
          int sum = 0;
          for (const int of : cell.of) sum += first_number(of, static_cast<int>(chunk));
          right &= cell.number == sum;
          right &= step < schedule.steps ||
                   (cell.whole && cell.number == sum_of(static_cast<int>(chunk), 16));
        }
      CHECK(right);
    }
  }
}

TEST_CASE("in a ring's all-reduce each rank sends a chunk and gets another in every step") {
  const auto schedule = schedule_of("h200-8", sim::Algorithm::kRing, CollectiveKind::kAllReduce, 4);
  for (int step = 0; step < schedule.steps; ++step) {
    const ChunkTable table = chunk_table(schedule, step);
    CHECK(table.moves.size() == 4);
    CHECK(table.adds == (step < 3));
    for (const auto& row : table.cells) {
      CHECK(std::count_if(row.begin(), row.end(), [](const auto& c) { return c.sent; }) == 1);
      CHECK(std::count_if(row.begin(), row.end(), [](const auto& c) { return c.coming; }) == 1);
    }
  }
  // Half way each rank has one whole sum.
  for (const auto& row : chunk_table(schedule, 3).cells)
    CHECK(std::count_if(row.begin(), row.end(), [](const auto& c) { return c.whole; }) == 1);
}

TEST_CASE("a link carries 2 (n - 1) / n of the buffer") {
  for (const int ranks : {2, 4, 8}) {
    const auto schedule =
        schedule_of("h200-8", sim::Algorithm::kRing, CollectiveKind::kAllReduce, ranks);
    CHECK(link_bytes(schedule, 1000, schedule.steps).all == Approx(2000.0 * (ranks - 1) / ranks));
    CHECK(link_bytes(schedule, 1000, 1).sent == Approx(1000.0 / ranks));
  }
}

TEST_CASE("a run's steps are where its chunks are, and equally long where it has none") {
  for (const bool expanded : {false, true}) {
    CAPTURE(expanded);
    const Run run = run_of({"workload=collective", "machine=h100-sxm-8", "host.profile=native",
                            "collective.algorithm=ring", "collective.bytes=100000000",
                            expanded ? "collective.expanded=true" : "collective.count=1"});
    const CollectiveWalk walk = collective_walk(*run.trace, *run.machine);
    REQUIRE(walk.schedule);
    const WalkedCollective& one = walk.at(0);
    CHECK(one.ranks == 8);
    CHECK(one.bytes == 100'000'000);
    CHECK(one.steps.size() == (expanded ? 14 : 0));
    CHECK(moment_of(one, *walk.schedule, one.start - 1).steps_over == 0);
    CHECK(moment_of(one, *walk.schedule, one.end).steps_over == 14);
    const Nanos middle = (one.start + one.end) / 2;
    CHECK(moment_of(one, *walk.schedule, middle).running);
    CHECK(std::abs(moment_of(one, *walk.schedule, middle).steps_over - 7) <= 1);
  }
}
