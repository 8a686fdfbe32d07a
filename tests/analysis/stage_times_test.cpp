// What stages do when, read from a trace; and the time in which they stand still.
#include "analysis/causes/stage_times.h"

#include <catch2/catch.hpp>
#include <set>

#include "analysis/runs/run.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "support/config.h"
#include "trace/chrome_reader.h"
#include "trace/chrome_writer.h"

using namespace trainscope;
using analysis::StageCell;
using test::Settings;

namespace {

analysis::Run run_of(const Settings& more = {}) {
  Settings settings{"workload=train",   "machine=h100-sxm-8",    "parallel.strategy=pipeline",
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
  for (const char* schedule : {"gpipe", "1f1b", "interleaved_1f1b"}) {
    const analysis::Run run = run_of({std::string("pipeline.schedule=") + schedule});
    const analysis::StageTimes times = analysis::stage_times(*run.trace);
    const int stages = times.is_interleaved() ? 8 : 4;
    CHECK(times.is_interleaved() == (std::string(schedule) == "interleaved_1f1b"));
    CHECK(times.ranks == 4);
    CHECK(times.stages == stages);
    CHECK(times.micro_batches == 8);
    REQUIRE(times.steps.size() == 3);
    for (const analysis::StageStep& step : times.steps) {
      CHECK(step.cells.size() == static_cast<std::size_t>(stages * 8 * 2));
      std::set<std::tuple<int, int, int, bool>> seen;
      const StageCell* last = nullptr;
      for (const StageCell& cell : step.cells) {
        CHECK(cell.stage % times.ranks == cell.rank);
        CHECK(seen.insert({cell.rank, cell.stage, cell.micro_batch, cell.is_backward}).second);
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
  for (const char* schedule : {"gpipe", "1f1b", "interleaved_1f1b"}) {
    const analysis::Run run = run_of({std::string("pipeline.schedule=") + schedule});
    const analysis::StageTimes times = analysis::stage_times(*run.trace);
    int turns = 0, neighbours = 0;
    for (const analysis::StageStep& step : times.steps)
      for (const StageCell& a : step.cells)
        for (const StageCell& b : step.cells) {
          if (a.micro_batch != b.micro_batch) continue;
          if (!a.is_backward && b.is_backward && a.stage == b.stage) {
            ++turns;
            CHECK(a.time.end <= b.time.start);
          }
          if (a.is_backward != b.is_backward || b.stage != a.stage + 1) continue;
          ++neighbours;
          if (a.is_backward) {
            CHECK(b.time.end <= a.time.start);
          } else {
            CHECK(a.time.end <= b.time.start);
          }
        }
    constexpr int kSteps = 3, kMicroBatches = 8;
    CHECK(turns == kSteps * kMicroBatches * times.stages);
    CHECK(neighbours == kSteps * kMicroBatches * 2 * (times.stages - 1));
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

// Eight stages of equal layers at most; what is sent takes next to no time beside them.
TEST_CASE("interleaved, stages that are alike stand still for (p - 1) / (v m)") {
  for (const auto& [ranks, stages, count] :
       {std::tuple{2, 1, 8}, {2, 2, 8}, {2, 4, 8}, {4, 2, 8}, {4, 2, 16}}) {
    INFO(ranks << " ranks, " << stages << " stages each, " << count << " micro-batches");
    const double ideal = (ranks - 1.0) / (stages * count);
    const double bubble =
        bubble_of(run_of({"pipeline.schedule=interleaved_1f1b", "pipeline.batch_p2p_comm=false",
                          "parallel.world_size=" + std::to_string(ranks),
                          "pipeline.stages_per_rank=" + std::to_string(stages),
                          "pipeline.microbatches=" + std::to_string(count)}));
    CHECK(bubble > 0.8 * ideal);
    CHECK(bubble < 1.25 * ideal + 0.04);
  }
}

// PyTorch's issue 188833: a receive that is called for early waits on the stream, and behind it
// what could be sent.
TEST_CASE("on one stream a receive that waits holds up the sends behind it") {
  const Settings interleaved{"pipeline.schedule=interleaved_1f1b", "pipeline.batch_p2p_comm=false"};
  const double plain = bubble_of(run_of()), apart = bubble_of(run_of(interleaved)),
               batched = bubble_of(run_of({"pipeline.schedule=interleaved_1f1b"}));
  CHECK(apart < 0.75 * plain);
  CHECK(batched > 1.3 * apart);
}

TEST_CASE(
    "interleaved, a GPU keeps more activations, and what it sends and receives of each stage") {
  const auto activations = [](const char* schedule) {
    const analysis::Run run = run_of({std::string("pipeline.schedule=") + schedule});
    return analysis::value_of(run.metrics, "memory.activations").value();
  };
  CHECK(activations("interleaved_1f1b") > 1.3 * activations("1f1b"));
}

TEST_CASE("the sums of several pipelines are seen under each of PyTorch's names") {
  const analysis::Run run = run_of({"pipeline.degree=2"});
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "trace.json";
  trace::write_chrome_trace(*run.trace, file);
  std::string text = read_file(file, std::size_t{1} << 30);
  const auto sums = [&] {
    std::size_t count = 0;
    for (const auto& step : analysis::stage_times(*trace::read_chrome_trace(file), 2).steps)
      count += step.sums.size();
    return count;
  };
  const std::size_t before = sums();
  CHECK(before > 0);
  const std::string name = "\"allreduce\"", other = "\"_allreduce_base\"";
  for (std::size_t at = text.find(name); at != text.npos; at = text.find(name, at + other.size()))
    text.replace(at, name.size(), other);
  write_file(file, text);
  CHECK(sums() == before);
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
