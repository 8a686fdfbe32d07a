// Memory over time and its maps, against the counters and the replay from the start.
#include "analysis/views/memory_history.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

#include "analysis/advice/batch_fit.h"
#include "analysis/advice/memory_fit.h"
#include "analysis/runs/run.h"
#include "analysis/views/memory_counters.h"
#include "analysis/views/memory_map.h"
#include "support/config.h"
#include "train/build.h"

using namespace trainscope;
using test::config_of;
using namespace trainscope::analysis;

namespace {

bool same(const std::vector<MemorySegment>& a, const std::vector<MemorySegment>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].number != b[i].number || a[i].blocks.size() != b[i].blocks.size()) return false;
    for (std::size_t k = 0; k < a[i].blocks.size(); ++k) {
      const MemoryBlock &x = a[i].blocks[k], &y = b[i].blocks[k];
      if (x.offset != y.offset || x.bytes != y.bytes || x.state != y.state || x.owner != y.owner)
        return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("roles sum to what is allocated at every moment, and the peak is the counters'") {
  const Run run = run_config(
      "A", config_of({"workload=train", "steps=6", "optimizer.name=adamw", "model.hidden=512"}));
  const MemoryHistory history(*run.trace);
  REQUIRE_FALSE(history.empty());
  REQUIRE(history.roles().size() >= 4);
  for (const MemoryHistory::Moment& moment : history.moments()) {
    const double sum = std::accumulate(moment.by_role.begin(), moment.by_role.end(), 0.0);
    REQUIRE(sum == moment.allocated);
    REQUIRE(moment.allocated <= moment.reserved);
  }
  const MemoryPeaks peaks = memory_peaks(*run.trace);
  CHECK(history.peak().allocated == *peaks.allocated);
  CHECK(history.most_reserved() == *peaks.reserved);
  CHECK(history.steps().size() == 6);
  REQUIRE(history.phases().size() >= 18);
  CHECK(history.phases().front().category == trace::Category::kForward);
}

TEST_CASE("each GPU of several has a history of its own, and the fullest is what peaks tell") {
  const Run run =
      run_config("A", config_of({"workload=train", "machine=h100-sxm-8",
                                 "parallel.strategy=pipeline", "parallel.world_size=4",
                                 "model.name=mlp", "model.layers=7", "steps=3", "batch_size=512"}));
  const std::vector<MemoryGpu> gpus = memory_gpus(*run.trace);
  REQUIRE(gpus.size() == 4);
  const MemoryPeaks peaks = memory_peaks(*run.trace);
  std::set<double> different;
  for (int i = 0; i < 4; ++i) {
    const MemoryGpu& gpu = gpus[static_cast<std::size_t>(i)];
    CHECK(gpu.name == "GPU " + std::to_string(i));
    CHECK(gpu.device == i);
    const MemoryHistory history(*run.trace, gpu);
    REQUIRE_FALSE(history.empty());
    CHECK(history.peak().allocated == gpu.peak);
    CHECK(history.steps().size() == 3);
    double held = 0;
    for (const MemoryBlock& block : held_at_peak(*run.trace, gpu.device))
      held += static_cast<double>(block.bytes);
    CHECK(held == gpu.peak);
    MemoryMaps maps(*run.trace, gpu.device);
    REQUIRE_FALSE(maps.at(run.trace->end()).empty());
    for (const MemorySegment& segment : maps.at(run.trace->end())) CHECK(segment.device == i);
    different.insert(gpu.peak);
  }
  CHECK(different.size() > 1);
  CHECK(fullest(gpus)->peak == *peaks.allocated);
  CHECK(MemoryHistory(*run.trace).peak().allocated == *peaks.allocated);
}

TEST_CASE("the highest moments of a range hold its peak, however few columns there are") {
  const Run run = run_config("A", config_of({"workload=train", "steps=6"}));
  const MemoryHistory history(*run.trace);
  for (const std::size_t columns : {1U, 7U, 100U, 5000U}) {
    double most = 0;
    for (const auto* moment : history.highest(0, run.trace->end() + 1, columns))
      if (moment) most = std::max(most, moment->allocated);
    CHECK(most == history.peak().allocated);
  }
  const auto after = history.highest(run.trace->end() + 10, run.trace->end() + 20, 3);
  CHECK(after[0] == history.at(run.trace->end() + 10));
  CHECK(history.at(-1) == nullptr);
}

TEST_CASE("counted in changes, every change has its place and the peak is among them") {
  const Run run = run_config("A", config_of({"workload=train", "steps=6"}));
  const MemoryHistory history(*run.trace);
  const std::size_t all = history.moments().size();
  CHECK(history.changes_by(-1) == 0);
  CHECK(history.changes_by(run.trace->end()) == all);
  for (const std::size_t columns : {1U, 10U, 10000U}) {
    const auto highest = history.highest_of_changes(0, all, columns);
    double most = 0;
    for (const auto* moment : highest) {
      REQUIRE(moment);
      most = std::max(most, moment->allocated);
    }
    CHECK(most == history.peak().allocated);
    CHECK(highest.front() <= highest.back());
  }
  CHECK(history.highest_of_changes(4, 4, 2)[0] == nullptr);
}

TEST_CASE("a trace without counters of memory has no history") {
  const trace::Trace trace{trace::Origin{}};
  CHECK_FALSE(counts_memory(trace));
  CHECK(MemoryHistory(trace).empty());
  CHECK(MemoryMaps(trace).empty());
  CHECK(MemoryMaps(trace).at(5).empty());
}

TEST_CASE("maps are those of the replay from the start, in whatever order times are asked for") {
  const Run run =
      run_config("A", config_of({"workload=train", "steps=60", "optimizer.name=adamw"}));
  REQUIRE(run.trace->allocator_events().size() > 3000);
  MemoryMaps maps(*run.trace);
  const Nanos end = run.trace->end();
  for (const int share : {50, 51, 3, 99, 98, 100, 0, 47, 20, 21, 22, 80}) {
    const Nanos time = end * share / 100;
    INFO(share);
    CHECK(same(maps.at(time), memory_map(*run.trace, time)));
  }
  CHECK(maps.at(-1).empty());
}

TEST_CASE("the largest batch that fits does so in the steps after the second, too") {
  program::Config config = config_of({"workload=train", "machine=t4-1", "model.name=gpt2-large",
                                      "model.seq_len=1024", "checkpoint.enabled=true", "steps=4"});
  const auto fit = batch_fit(config, train::machine_of(config), [] { return false; });
  REQUIRE(fit);
  REQUIRE(fit->largest > 1);
  config.set("batch_size", fit->largest);
  CHECK_FALSE(run_config("A", config).ending);
}

TEST_CASE("the largest batch that fits does, and the next one does not") {
  const program::Config config =
      config_of({"workload=train", "machine=t4-1", "model.hidden=8192", "model.layers=8"});
  const machine::Machine machine = train::machine_of(config);
  const auto fit = batch_fit(config, machine, [] { return false; });
  REQUIRE(fit);
  CHECK(fit->batch == 64);
  CHECK(fit->fits());
  REQUIRE(fit->largest < fit->most);
  const auto out_of_memory = [&](std::int64_t batch) {
    program::Config other = config;
    other.set("steps", std::int64_t{4});
    other.set("batch_size", batch);
    return run_config("A", other).ending.has_value();
  };
  CHECK_FALSE(out_of_memory(fit->largest));
  CHECK(out_of_memory(fit->largest + 1));
  CHECK_FALSE(batch_fit(config, machine, [] { return true; }));
  const auto gpt = batch_fit(config_of({"workload=train", "model.name=gpt-mini", "machine=t4-1",
                                        "model.width=1024", "model.blocks=8"}),
                             machine, [] { return false; });
  REQUIRE(gpt);
  CHECK(gpt->largest_other > gpt->largest);
  CHECK_FALSE(batch_fit(config_of({"workload=copy"}), machine, [] { return false; }));
}

TEST_CASE("no batch is larger than the data set, of which each rank has its share") {
  const program::Config config =
      config_of({"workload=train", "machine=h200-1", "data.name=mnist", "steps=3"});
  const auto fit = batch_fit(config, train::machine_of(config), [] { return false; });
  REQUIRE(fit);
  CHECK(fit->all_samples);
  CHECK(fit->most == 60'000);
  CHECK(fit->largest == 60'000);
  const program::Config shared =
      config_of({"workload=train", "machine=h200-8", "data.name=mnist", "steps=3",
                 "parallel.strategy=ddp", "parallel.world_size=4"});
  const auto share = batch_fit(shared, train::machine_of(shared), [] { return false; });
  REQUIRE(share);
  CHECK(share->largest == 15'000);
}

TEST_CASE(
    "sharded training, whose gradients are views of what sums them, has a largest batch, too") {
  program::Config config =
      config_of({"workload=train", "machine=titan-rtx-2", "model.name=gpt2-large", "steps=3",
                 "parallel.strategy=fsdp", "parallel.world_size=2", "optimizer.name=adamw"});
  const auto fit = batch_fit(config, train::machine_of(config), [] { return false; });
  REQUIRE(fit);
  REQUIRE(fit->largest > 1);
  config.set("batch_size", fit->largest);
  CHECK_FALSE(run_config("A", config).ending);
  config.set("batch_size", fit->largest + 1);
  CHECK(run_config("A", config).ending);
}

TEST_CASE("a smaller batch that does not fit hides no larger one that does") {
  program::Config config =
      config_of({"workload=train", "machine=h100-sxm-8", "model.name=gpt3-xl", "steps=4",
                 "parallel.strategy=fsdp", "parallel.world_size=8"});
  config.set("batch_size", std::int64_t{150});
  const auto fit = batch_fit(config, train::machine_of(config), [] { return false; });
  REQUIRE(fit);
  const machine::Machine machine = train::machine_of(config);
  const auto goes = [&](std::int64_t batch) {
    config.set("batch_size", batch);
    return fits(train::build_program(config, machine), machine::room_of_allocator(machine));
  };
  // Around there some that fit are larger than some that do not.
  CHECK(fit->fits() == goes(150));
  CHECK(goes(fit->largest));
  for (std::int64_t more = 1; more <= 8; ++more) CHECK_FALSE(goes(fit->largest + more));
}

TEST_CASE("in a stack of roles what stays is at the bottom, and a role without a place on top") {
  const std::vector<std::string> roles = {"activations", "other", "parameters", "optimizer state"};
  CHECK(stack_order(roles) == std::vector<std::size_t>{2, 3, 0, 1});
  CHECK(stack_order({}).empty());
}
