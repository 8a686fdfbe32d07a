// Pipelines inside a node, data parallelism across, simulated: what goes where, and when.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string_view>

#include "analysis/advice/advice.h"
#include "analysis/causes/diagnosis.h"
#include "analysis/causes/stage_times.h"
#include "analysis/grid_runs.h"
#include "analysis/runs/run.h"
#include "analysis/views/collectives.h"
#include "analysis/views/gradient_flow.h"
#include "base/units.h"
#include "support/config.h"
#include "support/metric_value.h"
#include "trace/same_collectives.h"

using namespace trainscope;
using namespace trainscope::analysis;
using Catch::Matchers::Contains;
using test::is_among;
using test::Settings;
using test::settings_of;
using test::spans_of;
using test::value;

namespace {

constexpr double kWidth = 64, kTokens = 32, kFloat = 4;
constexpr int kMicroBatches = 8, kBatch = 32;
const std::vector<Settings> kSchedules{
    {"pipeline.schedule=gpipe"},
    {"pipeline.schedule=1f1b"},
    {"pipeline.schedule=interleaved_1f1b", "pipeline.batch_p2p_comm=false"}};

// Micro-batches as few as can be.
const Settings kEight{"pipeline.degree=8", "pipeline.microbatches=8", "batch_size=8"};

Run run_of(const Settings& more) {
  Settings settings{"workload=train",
                    "machine=h200-8x2",
                    "parallel.strategy=pipeline",
                    "parallel.world_size=16",
                    "pipeline.microbatches=16",
                    "model.name=gpt-mini",
                    "data.name=text",
                    "model.width=64",
                    "model.heads=8",
                    "model.blocks=16",
                    "model.seq_len=32",
                    "batch_size=32",
                    "steps=3",
                    "loop.evaluate=false",
                    "collective.algorithm=ring"};
  settings.insert(settings.end(), more.begin(), more.end());
  return run_config("A", test::config_of(settings));
}

Settings with(const Settings& settings, const Settings& more) {
  Settings all = settings;
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// Of a pipeline.
double parameter_bytes(const Run& run) {
  double bytes = 0;
  for (const program::Buffer& buffer : run.program->buffers)
    if (buffer.role == program::Role::kParameter && buffer.device < run.program->gpus_of_batch)
      bytes += static_cast<double>(buffer.bytes);
  return bytes;
}

// What goes through a cut in a step, forward and back.
double bytes_of_cut(double batch) {
  return 2 * batch * kTokens * kWidth * kFloat;
}

}  // namespace

TEST_CASE(
    "between nodes go the gradients of pipelines, or the activations of one that spans them") {
  const Run wide = run_of({}), mesh = run_of({"pipeline.degree=8", "batch_size=16"});
  // Of a node: one cut is there, of which each node sends a half.
  CHECK(value(wide, "comm.network_bytes") == Approx(bytes_of_cut(kBatch) / 2).epsilon(1e-3));
  // An all-reduce of two sends what it sums.
  CHECK(value(mesh, "comm.network_bytes") == Approx(parameter_bytes(mesh)).epsilon(1e-3));
  CHECK(wide.program->samples_per_step == mesh.program->samples_per_step);
  CHECK(value(wide, "model.flops") == Approx(value(mesh, "model.flops")));
  for (const Run* run : {&wide, &mesh}) CHECK(value(*run, "link.utilization") <= 1);
}

// Four adapters are those of eight GPUs: no two stages sum at once, and each has one to itself.
TEST_CASE("the sums of a stage have the adapter that its GPU reaches") {
  const Run run = run_of(with(kEight, {"machine=dgx1-v100-8x2", "model.name=gpt2"}));
  CHECK(value(run, "link.utilization") <= 1);
  double fastest = 0;  // GB/s
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::CollectiveDetail* one = trace::collective_of(*run.trace, span);
    // The second stage has no embedding to sum with the last.
    if (one && one->operation == "allreduce" && run.trace->lanes()[span.lane].rank == 1)
      fastest = std::max(fastest, static_cast<double>(bytes_of(*one)) /
                                      static_cast<double>(std::max<Nanos>(span.duration, 1)));
  });
  const double network = run.machine->network.bytes_per_s / 1e9;
  CHECK(fastest > network / 8);
  CHECK(fastest <= network / 4);
}

TEST_CASE("other pipelines keep to the formula, too") {
  for (const int degree : {2, 4}) {
    CAPTURE(degree);
    const Run run = run_of(
        {"pipeline.degree=" + std::to_string(degree), "pipeline.microbatches=4", "batch_size=4"});
    const double replicas = 16.0 / degree;
    CHECK(value(run, "comm.network_bytes") ==
          Approx(parameter_bytes(run) * 2 * (replicas - 1) / replicas).epsilon(1e-2));
  }
}

TEST_CASE("one pipeline of all ranks is what there was, to the nanosecond") {
  const Settings four =
      with(kEight, {"machine=h200-8", "parallel.world_size=4", "pipeline.degree=0"});
  CHECK(spans_of(run_of(with(four, {"pipeline.degree=4"}))) == spans_of(run_of(four)));
}

TEST_CASE("no stage of pipelines has an effect before its cause") {
  for (const Settings& schedule : kSchedules) {
    const Run run = run_of(with(kEight, with(schedule, {"ddp.bucket_cap_mb=0.1"})));
    CHECK_FALSE(run.ending);
    const StageTimes times = stage_times(*run.trace, 8);
    CHECK(times.pipelines == 2);
    CHECK(times.ranks == 8);
    CHECK(times.stages == (schedule.size() > 1 ? 16 : 8));
    REQUIRE(times.steps.size() == 3);
    for (const StageStep& step : times.steps) {
      using Key = std::tuple<int, int, int, bool>;
      std::map<Key, Interval> of_cell;
      for (const StageCell& cell : step.cells)
        of_cell[{cell.rank / 8, cell.stage, cell.micro_batch, cell.is_backward}] = cell.time;
      CHECK(of_cell.size() == static_cast<std::size_t>(2 * times.stages * kMicroBatches * 2));
      for (const auto& [key, time] : of_cell) {
        const auto& [pipeline, stage, micro, is_backward] = key;
        if (is_backward) CHECK(of_cell.at({pipeline, stage, micro, false}).end <= time.start);
        if (stage + 1 == times.stages) continue;
        const Interval& behind = of_cell.at({pipeline, stage + 1, micro, is_backward});
        CHECK((is_backward ? behind.end <= time.start : time.end <= behind.start));
      }
      // A sum is of both pipelines, and what the stage before waits for comes behind it.
      std::map<int, std::vector<Interval>> sums;
      for (const StageSum& sum : step.sums) sums[sum.rank].push_back(sum.time);
      REQUIRE(sums.size() == 16);
      for (int rank = 0; rank < 8; ++rank) {
        REQUIRE(sums[rank].size() == sums[rank + 8].size());
        for (std::size_t i = 0; i < sums[rank].size(); ++i) {
          CHECK(sums[rank][i].start == sums[rank + 8][i].start);
          CHECK(sums[rank][i].end == sums[rank + 8][i].end);
        }
        const Interval last = of_cell.at({0, rank, kMicroBatches - 1, true});
        CHECK(sums[rank].back().end > last.start);
        if (rank > 0 && schedule.size() == 1)
          CHECK(sums[rank].back().end <= of_cell.at({0, rank - 1, kMicroBatches - 1, true}).start);
      }
    }
  }
}

TEST_CASE("no work of a pipeline's stream overlaps another's on it") {
  for (const Settings& schedule : kSchedules) {
    const Run run = run_of(with(kEight, schedule));
    std::map<trace::LaneId, std::vector<std::pair<Nanos, Nanos>>> of_lane;
    trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
      if (run.trace->lanes()[span.lane].kind == trace::LaneKind::kStream)
        of_lane[span.lane].emplace_back(span.start, span.end());
    });
    CHECK(of_lane.size() == std::size_t{16} * (schedule.size() == 1 ? 3 : 4));
    for (auto& [lane, spans] : of_lane) {
      std::ranges::sort(spans);
      for (std::size_t i = 1; i < spans.size(); ++i) REQUIRE(spans[i - 1].second <= spans[i].first);
    }
  }
}

TEST_CASE("gradients of a rank's stages flow in its buckets, to the ranks that have the same") {
  for (const Settings& schedule : kSchedules) {
    const Run run = run_of(with(kEight, with(schedule, {"ddp.bucket_cap_mb=0.1"})));
    const GradientFlow flow = gradient_flow(*run.trace, run.program.get());
    CHECK(flow.ranks == 2);
    REQUIRE(flow.backwards.size() == 3);
    const BackwardFlow& last = flow.backwards.back();
    CHECK(last.buckets.size() == run.program->buckets.size());
    for (const BucketTimes& bucket : last.buckets) {
      CHECK_FALSE(bucket.gradients.empty());
      CHECK(bucket.ready.value_or(0) <= bucket.started);
    }
  }
}

TEST_CASE("whose pipeline spans nodes is told of one in each") {
  const auto advice = [](const Run& run) { return communication_advice(run, Speech()); };
  const Run wide = run_of({}), mesh = run_of({"pipeline.degree=8"});
  CHECK(is_among(settings_of(wide), "pipeline.degree=8 batch_size=16"));
  CHECK(is_among(settings_of(run_of({"batch_size=16"})), "pipeline.degree=8"));
  CHECK_FALSE(is_among(settings_of(wide), "pipeline.degree=8"));
  // Within a node there are only fewer stages to try.
  for (const std::string& settings : settings_of(mesh)) CHECK_THAT(settings, !Contains("degree=8"));
  CHECK(is_among(settings_of(mesh), "pipeline.degree=4 batch_size=16"));
  CHECK_THAT(advice(wide), Contains("(pipeline.degree = 8)"));
  CHECK_THAT(advice(mesh), !Contains("pipeline.degree"));
}

TEST_CASE("the rank with the head has more to do, in each of several pipelines") {
  const auto titles = [](const Settings& ranks) {
    std::string text;
    for (const Finding& finding :
         diagnose(run_of(with({"model.name=gpt2", "machine=h200-8", "model.seq_len=512",
                               "pipeline.microbatches=8", "precision=bf16"},
                              ranks))))
      text += finding.title + "\n";
    return text;
  };
  CHECK_THAT(titles({"parallel.world_size=4"}), Contains("Rank 3 has more to do"));
  CHECK_THAT(titles({"parallel.world_size=8", "pipeline.degree=4"}),
             Contains("Ranks 3, 7 have more to do"));
}

TEST_CASE("sums of stages that follow one another are told, with their time on the critical path") {
  const Settings wide{"model.width=2048",      "model.heads=16", "model.seq_len=128",
                      "precision=bf16",        "batch_size=16",  "machine=h200-8x2",
                      "pipeline.degree=8",     "model.blocks=8", "collective.algorithm=auto",
                      "attention.kernel=flash"};
  const Run run = run_of(wide);
  const double sums = sums_in_turn(run);
  double most = 0;  // of one rank
  std::map<std::int32_t, double> of_rank;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::CollectiveDetail* one = trace::collective_of(*run.trace, span);
    const Interval window = run.facts.measured.window_of(run.trace->lanes()[span.lane].rank);
    if (!one || one->operation != "allreduce" || span.start < window.start ||
        span.end() > window.end)
      return;
    most = std::max(most, of_rank[run.trace->lanes()[span.lane].rank] +=
                          static_cast<double>(span.duration) / run.facts.measured.per());
  });
  CHECK(sums > 2 * most);
  std::string why, advice;
  for (const Finding& one : diagnose(run))
    if (one.part == Part::kIdleCollective) why = one.why, advice = one.advice;
  CHECK_THAT(why, Contains("the stages' sums of gradients follow one another, " +
                           format_nanos(sums) + " of the step"));
  CHECK_THAT(advice, Contains("bf16_compress_hook"));
  CHECK(sums_in_turn(run_of(with(wide, {"pipeline.degree=0", "model.blocks=16"}))) == 0);
}
