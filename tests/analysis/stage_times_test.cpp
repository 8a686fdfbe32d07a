// What stages do when, read from a trace; and the time in which they stand still.
#include "analysis/stage_times.h"

#include <catch2/catch.hpp>
#include <set>

#include "analysis/run.h"
#include "support/config.h"

using namespace trainscope;
using analysis::StageCell;

namespace {

analysis::Run run_of(const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings{
      "workload=train",   "machine=h100-sxm-8",    "parallel.strategy=pipeline",
      "model.name=mlp",   "model.layers=9",        "model.hidden=8192",
      "batch_size=16384", "parallel.world_size=4", "pipeline.microbatches=8",
      "steps=3",          "loop.evaluate=false",   "optimizer.name=sgd"};
  settings.insert(settings.end(), more.begin(), more.end());
  return analysis::run_config("A", test::config_of(settings));
}

double bubble_of(const analysis::Run& run) {
  return analysis::value_of(run.metrics, "pipeline.bubble").value();
}

}  // namespace

TEST_CASE("each rank has every micro-batch's forward and backward, one at a time, in every step") {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    const analysis::Run run = run_of({std::string("pipeline.schedule=") + schedule});
    const analysis::StageTimes times = analysis::stage_times(*run.trace);
    CHECK(times.stages == 4);
    CHECK(times.micro_batches == 8);
    REQUIRE(times.steps.size() == 3);
    for (const analysis::StageStep& step : times.steps) {
      CHECK(step.cells.size() == 4 * 8 * 2);
      std::set<std::tuple<int, int, bool>> seen;
      const StageCell* last = nullptr;
      for (const StageCell& cell : step.cells) {
        CHECK(seen.insert({cell.rank, cell.micro_batch, cell.is_backward}).second);
        CHECK(cell.time.start < cell.time.end);
        CHECK(cell.time.start >= step.time.start);
        CHECK(cell.time.end <= step.time.end);
        if (last && last->rank == cell.rank) CHECK(last->time.end <= cell.time.start);
        last = &cell;
      }
    }
  }
}

TEST_CASE("no stage begins what the stage before it has not done") {
  for (const char* schedule : {"gpipe", "1f1b"}) {
    const analysis::Run run = run_of({std::string("pipeline.schedule=") + schedule});
    for (const analysis::StageStep& step : analysis::stage_times(*run.trace).steps)
      for (const StageCell& a : step.cells)
        for (const StageCell& b : step.cells) {
          if (a.micro_batch != b.micro_batch) continue;
          if (!a.is_backward && b.is_backward && a.rank == b.rank)
            CHECK(a.time.end <= b.time.start);
          if (a.is_backward != b.is_backward || b.rank != a.rank + 1) continue;
          if (a.is_backward) {
            CHECK(b.time.end <= a.time.start);
          } else {
            CHECK(a.time.end <= b.time.start);
          }
        }
  }
}

// Stages of two equal layers, whose products are nearly all of their time.
TEST_CASE("stages that are alike stand still for (p - 1) / m of the time in which they work") {
  for (const char* schedule : {"gpipe", "1f1b"})
    for (const auto& [stages, count] : {std::pair{2, 8}, {4, 4}, {4, 8}, {4, 32}}) {
      INFO(schedule << ", " << stages << " stages, " << count << " micro-batches");
      const double ideal = (stages - 1.0) / count;
      const double bubble = bubble_of(run_of({std::string("pipeline.schedule=") + schedule,
                                              "parallel.world_size=" + std::to_string(stages),
                                              "pipeline.microbatches=" + std::to_string(count)}));
      CHECK(bubble > 0.8 * ideal);
      CHECK(bubble < 1.25 * ideal + 0.03);
    }
}

TEST_CASE("a step is found by the time, and what is no pipeline has none") {
  const analysis::StageTimes times = analysis::stage_times(*run_of().trace);
  CHECK(times.step_at(0) == 0);
  for (std::size_t step = 0; step < times.steps.size(); ++step)
    CHECK(times.step_at(times.steps[step].time.start) == step);
  const analysis::Run alone = analysis::run_config("A", test::config_of({"workload=train"}));
  CHECK(analysis::stage_times(*alone.trace).empty());
  CHECK_FALSE(analysis::value_of(alone.metrics, "pipeline.bubble"));
}
