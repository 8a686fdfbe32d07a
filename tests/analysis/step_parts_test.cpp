// A series is measured step by step, in parts of the trace: to the bit what the whole trace says.
#include "analysis/steps/step_parts.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <optional>

#include "analysis/metrics/metrics.h"
#include "analysis/runs/run.h"
#include "analysis/steps/epochs.h"
#include "analysis/steps/finished_steps.h"
#include "analysis/steps/step_facts.h"
#include "scenario/lesson.h"
#include "support/config.h"
#include "support/made_trace.h"
#include "support/skip.h"
#include "support/step_facts.h"
#include "support/traces.h"

using namespace trainscope;
using test::config_of;
using trace::Category;
using trace::LaneKind;

namespace {

// The facts of one step, looked for in all of the trace. What is no matter of spans is taken over.
analysis::Facts plain_facts(const analysis::Run& run, const analysis::RankedStep& step,
                            const analysis::Facts& from) {
  analysis::Facts facts;
  facts.learning = from.learning;
  facts.peaks = from.peaks;
  facts.roles = from.roles;
  facts.measured = test::measure_step(*run.trace, run.program.get(), run.machine.get(), step);
  facts.partition = analysis::partition(facts.measured);
  facts.h2d = analysis::copy_times(facts.measured, Category::kCopyH2D);
  facts.d2h = analysis::copy_times(facts.measured, Category::kCopyD2H);
  facts.host = analysis::host_times(facts.measured);
  facts.epoch = analysis::epoch_time(facts.measured);
  facts.sms = analysis::sm_facts(facts.measured);
  facts.roofline = analysis::roofline(facts.measured);
  facts.collectives = analysis::collective_times(facts.measured);
  return facts;
}

bool same(const std::optional<double>& one, const std::optional<double>& other) {
  return one == other || (one && other && std::isnan(*one) && std::isnan(*other));
}

// How many steps were compared.
std::size_t compare(const analysis::Run& run) {
  std::vector<analysis::RankedStep> windows = analysis::ranked_steps(*run.trace);
  windows.resize(std::min(windows.size(), analysis::finished_steps(*run.trace, run.program.get())));
  const std::vector<analysis::Facts> steps =
      test::gather_step_facts(*run.trace, run.program.get(), run.machine.get());
  REQUIRE(steps.size() == windows.size());
  std::size_t i = 0;
  const auto compare_step = [&](const analysis::Facts& in_part) {
    REQUIRE(i < steps.size());
    REQUIRE(in_part.measured.trace != run.trace.get());
    const analysis::Facts plain = plain_facts(run, windows[i], steps[i]);
    for (const analysis::Metric& metric : analysis::metrics()) {
      CAPTURE(i, metric.name);
      const std::optional<double> told = metric.compute(plain);
      CHECK(same(metric.compute(steps[i]), told));
      CHECK(same(metric.compute(in_part), told));
    }
    CHECK(steps[i].collectives.tells_waits == plain.collectives.tells_waits);
    CHECK(steps[i].collectives.intervals.intervals() == plain.collectives.intervals.intervals());
    ++i;
  };
  analysis::for_each_step_facts(*run.trace, run.program.get(), run.machine.get(), compare_step);
  CHECK(i == steps.size());
  return steps.size();
}

}  // namespace

TEST_CASE("the steps of every lesson are in parts what they are in the whole trace") {
  std::size_t steps = 0;
  for (const scenario::Lesson& lesson : scenario::all_lessons())
    for (const char* side : {"A", "B"}) {
      CAPTURE(lesson.id, side);
      program::Config config = lesson.side(side);
      if (config.whole("steps") > 6) config.set_text("steps=6");
      steps += compare(analysis::run_config(side, config));
    }
  CHECK(steps > 200);
}

TEST_CASE("the steps of real traces are in parts what they are in the whole trace") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("the real traces are not here");
  std::size_t steps = 0;
  for (const char* file : {"ddp-a100-2ranks.json.gz", "resnet50-v100-2021-schema.json.gz",
                           "alexnet.json.gz", "cpu-only.json.gz", "three-streams-events.json.gz"}) {
    CAPTURE(file);
    steps += compare(analysis::import_run("A", test::real_traces_folder() / file));
  }
  CHECK(steps > 5);
}

TEST_CASE("a part has a copy's call of an earlier step, and what ran before it on its stream") {
  test::MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(LaneKind::kStream, 0);
  made.add(host, "ProfilerStep#0", 0, 100, Category::kAnnotation);
  made.add(host, "ProfilerStep#1", 100, 200, Category::kAnnotation);
  made.add(host, "ProfilerStep#2", 200, 300, Category::kAnnotation);
  made.add(host, "cudaLaunchKernel", 10, 12, Category::kHostApi, 1);
  made.add(stream, "kernel", 20, 230, Category::kKernel, 1);
  made.add(host, "cudaMemcpyAsync", 15, 16, Category::kHostApi, 2);
  made.add(stream, "Memcpy HtoD", 250, 260, Category::kCopyH2D, 2);
  analysis::StepParts parts(made.trace, {{0, 100}, {100, 200}, {240, 300}});
  parts.next();
  parts.next();
  const auto last = parts.next();
  CHECK_FALSE(parts.next());
  analysis::Measured measured = analysis::measure_whole(*last, nullptr, nullptr);
  measured.window = {240, 300};
  const analysis::CopyTimes times = analysis::copy_times(measured, Category::kCopyH2D);
  REQUIRE(times.count == 1);
  // From when its stream was free: the kernel before it ended before the step began.
  CHECK(times.intervals.intervals().front() == analysis::Interval{230, 260});
}

TEST_CASE("a copy does not begin before what its call waited for on another stream is done") {
  test::MadeTrace made;
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(LaneKind::kStream, 0);
  made.add(host, "ProfilerStep#0", 0, 300, Category::kAnnotation);
  made.add(host, "cudaMemcpyAsync", 10, 130, Category::kHostApi, 2);
  made.add(stream, "Memcpy HtoD", 120, 128, Category::kCopyH2D, 2);
  const auto start = [&] {
    const analysis::Measured measured = analysis::measure_whole(made.trace, nullptr, nullptr);
    return analysis::copy_times(measured, Category::kCopyH2D).intervals.intervals().front().start;
  };
  CHECK(start() == 10);  // it stages from its call on
  // Another thread's wait is none of this call's.
  const auto wait = [&](trace::LaneId thread, Nanos from, Nanos to) {
    trace::Span held;
    held.lane = thread;
    held.name = made.trace.intern("waits for the stream");
    held.start = from;
    held.duration = to - from;
    held.category = Category::kHeld;
    held.cause = trace::Cause::kDevice;
    made.trace.add_span(held);
  };
  wait(made.lane(LaneKind::kHostThread), 20, 118);
  CHECK(start() == 10);
  wait(host, 12, 110);
  CHECK(start() == 110);
}

TEST_CASE("a part tells metrics that calls are told, and how often the allocator tried again") {
  test::MadeTrace made;
  const trace::LaneId host = made.lane(LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(LaneKind::kStream, 0);
  made.lane(LaneKind::kMemory, 0);
  for (const Nanos start : {0, 100, 200})
    made.add(host, "ProfilerStep#", start, start + 100, Category::kAnnotation);
  made.add(host, "cudaLaunchKernel", 10, 12, Category::kHostApi, 1);
  made.add(stream, "kernel", 20, 30, Category::kKernel, 1);  // the only one
  for (const Nanos time : {10, 20, 250}) {
    trace::AllocatorEvent event;
    event.time = time;
    event.owner = made.trace.intern("relu");
    event.action =
        time == 20 ? trace::AllocatorAction::kRetry : trace::AllocatorAction::kSegmentAlloc;
    made.trace.add_allocator_event(event);
  }
  std::vector<std::optional<double>> depths, retries;
  analysis::for_each_step_facts(made.trace, nullptr, nullptr, [&](const analysis::Facts& facts) {
    depths.push_back(analysis::find_metric("launch.queue_depth").compute(facts));
    retries.push_back(analysis::find_metric("memory.alloc_retries").compute(facts));
  });
  CHECK(depths == std::vector<std::optional<double>>{0.08, 0.0, 0.0});
  CHECK(retries == std::vector<std::optional<double>>(3, 1.0));
}

TEST_CASE("a part has no more than its own step of a long run") {
  const analysis::Run run =
      analysis::run_config("A", config_of({"workload=train", "model.name=mlp", "steps=200"}));
  const std::vector<analysis::RankedStep> windows = analysis::ranked_steps(*run.trace);
  REQUIRE(windows.size() == 200);
  std::vector<analysis::Interval> times;
  for (const analysis::RankedStep& step : windows)
    times.push_back(
        {std::min(step.window.start, step.mark.start), std::max(step.window.end, step.mark.end)});
  analysis::StepParts parts(*run.trace, times);
  std::size_t spans = 0;
  while (const auto part = parts.next()) spans += part->spans().size();
  CHECK(spans > run.trace->spans().size() / 2);
  CHECK(spans < 4 * run.trace->spans().size());
}
