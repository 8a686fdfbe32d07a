// Ranks that come to a step one after another: each is measured by the steps that it marks itself.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/causes/rank_times.h"
#include "analysis/metrics/rank_metrics.h"
#include "analysis/runs/run.h"
#include "analysis/steps/facts.h"
#include "analysis/steps/step_marks.h"
#include "base/temporary_folder.h"
#include "support/config.h"
#include "support/metric_value.h"
#include "support/step_facts.h"
#include "trace/chrome_writer.h"

using namespace trainscope;
using namespace trainscope::analysis;
using test::Settings;
using test::value;

namespace {

struct Job {
  const char* name;
  Settings settings;
  int ranks;
};

const std::vector<Job> kJobs{
    {"stages one after another", {"pipeline.schedule=gpipe", "pipeline.microbatches=1"}, 4},
    {"GPipe", {"pipeline.schedule=gpipe"}, 4},
    {"1F1B", {"pipeline.schedule=1f1b"}, 4},
    {"interleaved", {"pipeline.schedule=interleaved_1f1b", "pipeline.batch_p2p_comm=false"}, 4},
    {"two pipelines", {"pipeline.schedule=gpipe", "pipeline.degree=4", "parallel.world_size=8"}, 8},
    {"two pipelines, interleaved",
     {"pipeline.schedule=interleaved_1f1b", "pipeline.batch_p2p_comm=false", "pipeline.degree=4",
      "parallel.world_size=8"},
     8},
    {"a straggler", {"parallel.strategy=ddp", "straggler.rank=2", "straggler.factor=1.4"}, 4}};

Run run_of(const Job& job, int steps) {
  Settings settings{
      "workload=train",        "machine=h100-sxm-8",      "parallel.strategy=pipeline",
      "parallel.world_size=4", "pipeline.microbatches=8", "model.name=gpt-mini",
      "data.name=text",        "model.width=512",         "model.heads=8",
      "model.blocks=8",        "model.seq_len=256",       "batch_size=64",
      "loop.evaluate=false"};
  settings.insert(settings.end(), job.settings.begin(), job.settings.end());
  settings.push_back("steps=" + std::to_string(steps));
  return run_config("A", test::config_of(settings));
}

std::string of_rank(const std::string& metric, int rank) {
  return metric + "@" + std::to_string(rank);
}

// The work on a rank's GPU that the rank called for in its measured steps.
Nanos work_of_calls(const Measured& measured, int rank) {
  const trace::Trace& trace = *measured.trace;
  const std::vector<Interval>& marks = measured.marks_of_ranks.at(rank);
  REQUIRE(static_cast<int>(marks.size()) == measured.steps);
  const Interval time{marks.front().start, marks.back().end};
  std::set<std::uint32_t> calls;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = trace.lanes()[span.lane];
    if (lane.kind == trace::LaneKind::kHostThread && lane.rank == rank && span.correlation != 0 &&
        time.start <= span.start && span.start < time.end)
      calls.insert(span.correlation);
  });
  std::vector<Interval> work;
  trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId) {
    if (trace.lanes()[span.lane].kind == trace::LaneKind::kStream &&
        trace.lanes()[span.lane].rank == rank && trace::is_gpu_work(span.category) &&
        calls.contains(span.correlation))
      work.push_back({span.start, span.end()});
  });
  return IntervalSet(std::move(work)).length();
}

// Of a trace alone, as of one that nothing else is known of.
Run trace_alone(const Run& run) {
  Run alone;
  alone.label = run.label;
  alone.trace = run.trace;
  analyse(alone);
  return alone;
}

}  // namespace

TEST_CASE("each rank marks its own steps") {
  constexpr int kSteps = 4;
  for (const Job& job : kJobs) {
    CAPTURE(job.name);
    const Run run = run_of(job, kSteps);
    const RankMarks ranks = marks_by_rank(*run.trace);
    REQUIRE(static_cast<int>(ranks.size()) == job.ranks);
    for (const auto& [rank, marks] : ranks) {
      REQUIRE(marks.size() == kSteps);
      for (int step = 0; step < kSteps; ++step)
        CHECK(marks[static_cast<std::size_t>(step)].number == step);
    }
  }
}

TEST_CASE("a rank is at work for as long as what it called for in its steps takes") {
  for (const Job& job : kJobs) {
    CAPTURE(job.name);
    const Run run = run_of(job, 5);
    for (const auto& [rank, gpu] : gpus_of_ranks(*run.trace)) {
      CAPTURE(rank);
      const Nanos work = work_of_calls(run.facts.measured, rank);
      CHECK(work > 0);
      CHECK(gpu_busy(of_gpu(run.facts.measured, rank, gpu)).length() == work);
      const auto part = trace_of_rank(run, rank);
      const Measured own = measure(*part, run.program.get(), run.machine.get());
      const double a_step = static_cast<double>(work_of_calls(own, rank)) / own.steps;
      CHECK(value(run, of_rank("gpu.busy", rank)) == Approx(a_step));
    }
  }
}

TEST_CASE("how busy ranks are does not depend on whether the last step is among those measured") {
  constexpr double kRounding = 0.003;  // of a step, or of it all
  const std::vector<std::string> metrics{"time.step", "gpu.util", "gpu.busy", "gpu.idle"};
  for (const Job& job : kJobs) {
    CAPTURE(job.name);
    const Run few = run_of(job, 3), many = run_of(job, 12);
    REQUIRE(few.facts.measured.steps < 3);
    for (const std::string& metric : metrics) {
      const double all = metric == "gpu.util" ? 1 : value(many, "time.step");
      const auto check = [&](const std::string& asked) {
        CAPTURE(asked);
        CHECK(std::abs(value(few, asked) - value(many, asked)) < kRounding * all);
      };
      check(metric);
      for (int rank = 0; rank < job.ranks; ++rank) check(of_rank(metric, rank));
    }
    REQUIRE(few.ranks.size() == static_cast<std::size_t>(job.ranks));
    for (std::size_t rank = 0; rank < few.ranks.size(); ++rank) {
      CAPTURE(rank);
      const double rounding = kRounding * value(many, "time.step");
      CHECK(std::abs(few.ranks[rank].busy - many.ranks[rank].busy) < rounding);
      CHECK(std::abs(few.ranks[rank].wait - many.ranks[rank].wait) < rounding);
    }
  }
}

TEST_CASE("the last step alone is as full as the one before it") {
  for (const Job& job : kJobs) {
    CAPTURE(job.name);
    const Run run = run_of(job, 6);
    const std::vector<Facts> steps =
        test::gather_step_facts(*run.trace, run.program.get(), run.machine.get());
    REQUIRE(steps.size() == 6);
    for (const char* metric : {"time.step", "gpu.util", "gpu.busy", "comm.wait", "comm.bytes"}) {
      CAPTURE(metric);
      const auto last = value_of(compute_metrics(steps[5]), metric);
      const auto before = value_of(compute_metrics(steps[4]), metric);
      REQUIRE(last);
      REQUIRE(before);
      CHECK(*last == Approx(*before).epsilon(0.003));
    }
  }
}

TEST_CASE("written for each rank and read again, ranks have the metrics that they had") {
  for (const Job& job : kJobs) {
    CAPTURE(job.name);
    const Run run = run_of(job, 4);
    const Run own = trace_alone(run);
    const test::TemporaryFolder folder;
    trace::write_chrome_folder(*run.trace, folder.path());
    const Run back = import_run("A", folder.path());
    const RankMarks there = marks_by_rank(*back.trace);
    CHECK(static_cast<int>(there.size()) == job.ranks);
    CHECK(back.facts.measured.rank == own.facts.measured.rank);
    for (const char* metric : {"time.step", "gpu.util", "gpu.busy", "comm.wait", "launch.calls"}) {
      CHECK(value(back, metric) == Approx(value(own, metric)));
      for (int rank = 0; rank < job.ranks; ++rank)
        CHECK(value(back, of_rank(metric, rank)) == Approx(value(own, of_rank(metric, rank))));
    }
  }
}
