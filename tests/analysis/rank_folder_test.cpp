// The traces of one job's ranks, imported as one run.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "analysis/causes/critical_path.h"
#include "analysis/caveats/rank_caveat.h"
#include "analysis/metrics/rank_metrics.h"
#include "analysis/runs/run.h"
#include "base/temporary_folder.h"
#include "support/foreign_ranks.h"
#include "support/metric_value.h"
#include "trace/chrome_writer.h"
#include "trace/ranks.h"

using namespace trainscope;
using test::value;

namespace {

constexpr int kRanks = 4;
constexpr int kSlow = 2;

analysis::Run run(const std::vector<const char*>& settings) {
  program::Config config;
  for (const char* common : {"machine=dgx1-v100-8", "model.name=resnet18", "steps=4",
                             "parallel.world_size=4", "batch_size=16"})
    config.set_text(common);
  for (const char* setting : settings) config.set_text(setting);
  return analysis::run_config("A", config);
}

analysis::Run straggling() {
  return run({"parallel.strategy=ddp", "straggler.rank=2", "straggler.factor=1.5"});
}

// The run's own trace, as one knows nothing else of.
analysis::Run trace_alone(const analysis::Run& run) {
  analysis::Run alone;
  alone.label = run.label;
  alone.trace = run.trace;
  analysis::analyse(alone);
  return alone;
}

void check_same(const analysis::Run& back, const analysis::Run& own) {
  std::size_t same = 0;
  for (const analysis::MetricValue& one : own.metrics) {
    const std::string& name = one.metric->name;
    INFO(name);
    const auto found = analysis::value_of(back.metrics, name);
    // What the allocator did is not in such files.
    if (!found && name.starts_with("memory.")) continue;
    REQUIRE(found);
    CHECK(*found == Approx(one.value));
    ++same;
  }
  CHECK(same == back.metrics.size());
}

}  // namespace

TEST_CASE("the files of a run's ranks say of it what its own trace says") {
  const test::TemporaryFolder folder;
  const analysis::Run slow = straggling();
  trace::write_chrome_folder(*slow.trace, folder.path());
  const analysis::Run own = trace_alone(slow), back = analysis::import_run("A", folder.path());
  CHECK(back.facts.measured.rank == kSlow);
  CHECK(analysis::rank_count(back) == kRanks);
  CHECK(back.facts.measured.steps == 4);
  check_same(back, own);
}

TEST_CASE("what the steps of a job depend on is told of its ranks' files as of the run") {
  int written = 0;
  for (const auto& settings : std::vector<std::vector<const char*>>{
           {"parallel.strategy=ddp", "model.name=resnet18"},
           {"parallel.strategy=ddp", "model.name=resnet18", "collective.expanded=true"},
           {"parallel.strategy=fsdp", "model.name=gpt2", "batch_size=2"},
           {"parallel.strategy=tensor", "model.name=gpt2", "batch_size=2"},
           {"parallel.strategy=pipeline", "model.name=gpt2", "batch_size=8"},
           {"parallel.strategy=pipeline", "model.name=gpt2", "batch_size=8", "pipeline.degree=2"}})
    for (const char* slow : {"straggler.rank=2", "straggler.rank=-1"}) {
      INFO(settings[0] << " " << settings.back() << " " << slow);
      std::vector<const char*> all = settings;
      all.insert(all.end(), {slow, "straggler.factor=1.5"});
      const test::TemporaryFolder folder;
      const analysis::Run own = trace_alone(run(all));
      if (trace::ranks_of(*own.trace).size() < kRanks) continue;  // one stands for all
      ++written;
      trace::write_chrome_folder(*own.trace, folder.path());
      const analysis::Run back = analysis::import_run("A", folder.path());
      const analysis::CriticalPath whole = analysis::critical_path(own.facts.measured);
      const analysis::CriticalPath parts = analysis::critical_path(back.facts.measured);
      CHECK(whole[analysis::PathPart::kUntold] == 0);
      CHECK(parts.time == whole.time);
    }
  CHECK(written > 6);
}

TEST_CASE("ranks of another tool's files wait for the slow one") {
  const test::TemporaryFolder folder;
  const analysis::Run slow = straggling();
  trace::write_chrome_folder(*slow.trace, folder.path() / "own", {}, ".json");
  test::write_foreign_ranks(folder.path() / "own", folder.path() / "job", {0, 1234.5, -77, 3e6});
  const analysis::Run own = trace_alone(slow),
                      job = analysis::import_run("A", folder.path() / "job");
  CHECK(job.trace->origin().kind == trace::OriginKind::kImported);
  CHECK(job.facts.measured.rank == kSlow);
  CHECK(job.facts.measured.steps == 4);
  for (const char* metric : {"time.step", "time.total", "comm.wait", "bandwidth.bus"})
    CHECK(value(job, metric) == Approx(value(own, metric)).epsilon(1e-3));
  CHECK(value(job, "comm.wait") > 0);
  REQUIRE(job.ranks.size() == kRanks);
  for (const analysis::RankTimes& one : job.ranks) {
    INFO(one.rank);
    const std::string at = "@" + std::to_string(one.rank);
    CHECK(one.busy == Approx(value(job, "gpu.busy" + at)).epsilon(0.02));
    if (one.rank == kSlow) {
      CHECK(one.wait < 0.01 * value(job, "time.step"));
    } else {
      CHECK(one.wait > 0.1 * value(job, "time.step"));
    }
  }
  // Alone, a rank does not know that it waits.
  const analysis::Run alone = analysis::import_run("A", folder.path() / "job" / "rank_0.json");
  CHECK_FALSE(analysis::value_of(alone.metrics, "comm.wait"));
  CHECK(alone.ranks.empty());
  CHECK_THAT(alone.trace->origin().detail, Catch::EndsWith(", rank 0 of 4"));
  CHECK_THAT(alone.caveat, Catch::Contains("one rank of a job of 4 or more; open a folder"));
  CHECK(job.caveat.empty());
  CHECK(value(job, "gpu.busy@0") < value(alone, "gpu.busy"));
}

TEST_CASE("of a job only the ranks that are there can be asked for") {
  const test::TemporaryFolder folder;
  const analysis::Run slow = straggling();
  trace::write_chrome_folder(*slow.trace, folder.path(), {}, ".json");
  std::filesystem::remove(folder.path() / "rank_1.json");
  const analysis::Run some = analysis::import_run("A", folder.path());
  CHECK(value(some, "time.step@3") > 0);
  CHECK_THROWS_WITH(analysis::value_of(some, analysis::asked_metric("time.step@1")),
                    Catch::Contains("has no rank 1, but ranks 0, 2 and 3: write @0"));
  CHECK_THAT(some.trace->origin().detail, Catch::Contains(", ranks 0, 2 and 3 of 4"));
  CHECK_THAT(some.caveat, Catch::Contains("the trace of 3 ranks of a job of 4 or more"));
}

TEST_CASE("a process that drives several GPUs lacks no ranks") {
  const analysis::Run replicas = run({"parallel.strategy=dp"});
  CHECK_FALSE(analysis::lacks_ranks(*replicas.trace));
  CHECK(analysis::rank_caveat(*replicas.trace).empty());
}

TEST_CASE("a trace without collectives is told nothing of other ranks") {
  const analysis::Run alone = run({"parallel.strategy=none", "parallel.world_size=1"});
  CHECK_FALSE(analysis::lacks_ranks(*alone.trace));
  CHECK(analysis::rank_caveat(*alone.trace).empty());
}
