// The critical path: that it is a path, and that what is on it is what the steps would be shorter
// by.
#include "analysis/causes/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "scenario/course.h"
#include "support/config.h"
#include "support/lesson_runs.h"
#include "support/made_trace.h"
#include "support/random_program.h"
#include "support/replays.h"
#include "support/skip.h"
#include "support/traces.h"

using namespace trainscope;
using analysis::CriticalPath;
using analysis::Measured;
using analysis::PathPart;
using analysis::PathPiece;
using test::Settings;

namespace {

// The pieces cover the window, one after another, and lie in the spans that they are of. A piece of
// a collective may begin when the last rank came to it, a moment before it goes on.
void check_is_path(const CriticalPath& path, const Measured& measured) {
  REQUIRE(!path.pieces.empty());
  CHECK(path.pieces.front().start == measured.first_window().start);
  CHECK(path.pieces.back().end == measured.first_window().end);
  const trace::Trace& trace = *measured.trace;
  int holes = 0, outside = 0;
  for (std::size_t i = 0; i < path.pieces.size(); ++i) {
    const PathPiece& piece = path.pieces[i];
    if (piece.end <= piece.start) ++holes;
    if (i > 0 && piece.start != path.pieces[i - 1].end) ++holes;
    if (piece.span == trace::kNone || piece.part == PathPart::kCommunication) continue;
    const trace::Span& span = trace.spans()[piece.span];
    if (piece.start < span.start || piece.end > span.end()) ++outside;
  }
  CHECK(holes == 0);
  CHECK(outside == 0);
  CHECK(std::accumulate(path.time.begin(), path.time.end(), Nanos{0}) ==
        measured.first_window().end - measured.first_window().start);
}

double share(const CriticalPath& path, PathPart part) {
  const Nanos whole = std::accumulate(path.time.begin(), path.time.end(), Nanos{0});
  return static_cast<double>(path[part]) / static_cast<double>(whole);
}

CriticalPath path_of(const analysis::Run& run) {
  return analysis::critical_path(run.facts.measured);
}

Measured whole(const trace::Trace& trace) {
  return analysis::measure_whole(trace, nullptr, nullptr);
}

Nanos end_of(const trace::Trace& trace) {
  return whole(trace).window.end;
}

// As long as the path is the longest, a part of it that is faster by a hundredth saves a hundredth
// of its time on the path. Another path may be the longest then: so it saves no more, and being
// slower it costs no less. A time is rounded to a whole nanosecond for each piece.
struct Saved {
  double foretold = 0, faster = 0, slower = 0;  // ns
};

Saved check_bounds(const test::TracePointer& recorded, const CriticalPath& path, const char* knob,
                   const std::function<bool(const PathPiece&)>& is_of_knob) {
  const auto replayed_at = [&](double speed) {
    return static_cast<double>(
        end_of(*test::replayed(recorded, {fmt::format("replay.{}={}", knob, speed)})));
  };
  const double plain = static_cast<double>(end_of(*test::replayed(recorded)));
  double pieces = 0, time = 0;
  for (const PathPiece& piece : path.pieces) {
    if (!is_of_knob(piece)) continue;
    ++pieces;
    time += static_cast<double>(piece.end - piece.start);
  }
  const Saved saved{time / 101, plain - replayed_at(1.01), replayed_at(1 / 1.01) - plain};
  INFO(knob << ": " << pieces << " pieces, " << time << " ns on the path");
  CHECK(saved.faster <= saved.foretold + pieces + 2);
  CHECK(saved.slower >= time / 100 - pieces - 2);
  return saved;
}

}  // namespace

TEST_CASE("the critical path of a lesson covers its steps, and all of it is told") {
  for (const char* id :
       {"pinned-vs-pageable", "stream-overlap", "num-workers", "slurm-one-core", "straggler",
        "dp-vs-ddp", "item-synchronises", "launch-bound", "pipeline-bubble", "zero-stages",
        "tensor-parallel", "sequence-parallel", "two-nodes", "gradient-accumulation",
        "non-blocking-needs-pinned", "anatomy-of-a-step", "dataset-on-gpu", "ddp-deadlock"})
    for (const char* side : {"A", "B"}) {
      INFO(id << " " << side);
      const scenario::Lesson lesson = scenario::find_lesson(id);
      const analysis::Run run = analysis::run_config(side, lesson.side(side, {}));
      const CriticalPath path = path_of(run);
      check_is_path(path, run.facts.measured);
      CHECK(path[PathPart::kUntold] == 0);
      CHECK_FALSE(path.is_inferred);
    }
}

TEST_CASE("the critical path of any program covers it") {
  const machine::Machine machine = test::machine_of({"machine=h200-1"});
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    INFO("seed " << seed);
    const test::TracePointer run = test::carried_out(test::random_program(seed), machine);
    const Measured measured = whole(*run);
    if (measured.window.end > measured.window.start)
      check_is_path(analysis::critical_path(measured), measured);
  }
}

TEST_CASE("what is on the critical path is what its being faster saves") {
  for (const Settings& settings :
       {test::training({"model.name=mlp", "batch_size=64"}),
        test::training({"model.name=mlp", "loop.item_every=1"}),
        test::training({"model.name=gpt-mini", "batch_size=8"}),
        test::training({"model.name=resnet50", "batch_size=128", "precision=fp16"}),
        test::training({"model.name=resnet50", "parallel.strategy=ddp", "machine=h200-8"}),
        test::training({"model.name=resnet50", "parallel.strategy=ddp", "machine=l40s-2"}),
        test::training({"model.name=gpt2", "parallel.strategy=fsdp", "machine=l40s-2"})}) {
    INFO(fmt::format("{}", fmt::join(settings, " ")));
    const test::TracePointer recorded = test::simulated(settings);
    const test::TracePointer replay = test::replayed(recorded);
    const CriticalPath path = analysis::critical_path(whole(*replay));
    CHECK(path[PathPart::kUntold] == 0);
    const auto is_part = [](PathPart part) {
      return [part](const PathPiece& piece) { return piece.part == part; };
    };
    const auto is_copy = [&](const PathPiece& piece) {
      return piece.span != trace::kNone && trace::is_copy(replay->spans()[piece.span].category);
    };
    const Saved kernels = check_bounds(recorded, path, "kernel_speed", is_part(PathPart::kKernels));
    CHECK(kernels.faster == Approx(kernels.foretold).epsilon(0.01).margin(100));
    check_bounds(recorded, path, "copy_speed", is_copy);
    check_bounds(recorded, path, "communication_speed", is_part(PathPart::kCommunication));
    // The replay's path is that of the run, but for the room on the SMs that a replay knows nothing
    // of: what waited for that begins some time after the work before it.
    const CriticalPath of_run = analysis::critical_path(whole(*recorded));
    CHECK(share(path, PathPart::kKernels) + share(path, PathPart::kGaps) ==
          Approx(share(of_run, PathPart::kKernels) + share(of_run, PathPart::kGaps)).margin(0.01));
  }
}

TEST_CASE("the critical path passes where a lesson says that the time goes") {
  const auto side = [](const char* id, const char* label) {
    return analysis::run_config(label, scenario::find_lesson(id).side(label, {}));
  };
  CHECK(share(path_of(side("pinned-vs-pageable", "A")), PathPart::kStaging) > 0.9);
  CHECK(share(path_of(side("pinned-vs-pageable", "B")), PathPart::kCopies) > 0.99);
  CHECK(share(path_of(side("launch-bound", "A")), PathPart::kHost) > 0.9);
  CHECK(share(path_of(side("launch-bound", "B")), PathPart::kHost) < 0.05);
  CHECK(share(path_of(side("slurm-one-core", "A")), PathPart::kLoading) > 0.9);
  CHECK(share(path_of(side("buckets-and-overlap", "B")), PathPart::kCommunication) >
        share(path_of(side("buckets-and-overlap", "A")), PathPart::kCommunication));
}

TEST_CASE("the critical path of a job with a straggler is the straggler's") {
  const scenario::Lesson lesson = scenario::find_lesson("straggler");
  const analysis::Run run = analysis::run_config("B", lesson.side("B", {}));
  const CriticalPath path = path_of(run);
  std::map<std::int32_t, Nanos> kernels;
  for (const PathPiece& piece : path.pieces)
    if (piece.part == PathPart::kKernels)
      kernels[run.trace->lanes()[piece.lane].rank] += piece.end - piece.start;
  const auto most =
      std::ranges::max_element(kernels, {}, [](const auto& one) { return one.second; });
  REQUIRE(most != kernels.end());
  const auto slow = std::ranges::min(run.ranks, {}, &analysis::RankTimes::wait);
  CHECK(most->first == slow.rank);
  CHECK(static_cast<double>(most->second) > 0.95 * static_cast<double>(path[PathPart::kKernels]));
}

TEST_CASE("what takes longest on the critical path is told by its name") {
  const analysis::Run run =
      analysis::run_config("A", scenario::find_lesson("stream-overlap").side("A", {}));
  const CriticalPath path = path_of(run);
  Nanos spans = 0;
  for (const PathPiece& piece : path.pieces)
    if (piece.span != trace::kNone) spans += piece.end - piece.start;
  CHECK(analysis::shares_in_words(path).starts_with("kernels 5"));
  const std::vector<analysis::OnPath> all = analysis::longest_on_path(path, *run.trace, 1000);
  Nanos named = 0;
  for (const analysis::OnPath& one : all) named += one.time;
  CHECK(named == spans);
  CHECK(std::ranges::is_sorted(all, std::ranges::greater{}, &analysis::OnPath::time));
  CHECK(analysis::longest_on_path(path, *run.trace, 2).size() == 2);
}

TEST_CASE("the critical path of a profiler's trace is inferred, and mostly told") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  for (const char* file : {"alexnet.json.gz", "ddp-a100-2ranks.json.gz",
                           "resnet50-v100-2021-schema.json.gz", "three-streams-events.json.gz"}) {
    INFO(file);
    const analysis::Run run = analysis::import_run("A", test::real_traces_folder() / file);
    const CriticalPath path = path_of(run);
    check_is_path(path, run.facts.measured);
    CHECK(path.is_inferred);
    INFO(analysis::shares_in_words(path));
    CHECK(share(path, PathPart::kUntold) < 0.02);
    // What the replay of all of it waits for, its simulation tells.
    const CriticalPath inferred = analysis::critical_path(whole(*run.trace));
    const CriticalPath told = analysis::critical_path(whole(*test::replayed(run.trace)));
    for (const PathPart part : {PathPart::kKernels, PathPart::kHost, PathPart::kLoading})
      CHECK(share(inferred, part) == Approx(share(told, part)).margin(0.01));
  }
}

TEST_CASE("the critical path of DataParallel passes by the GPU that came last") {
  const test::TracePointer run =
      test::simulated(test::training({"model.name=gpt2", "batch_size=16", "parallel.strategy=dp",
                                      "parallel.world_size=4", "machine=a100-sxm-8"}));
  const CriticalPath path = analysis::critical_path(whole(*run));
  CHECK(path[PathPart::kUntold] == 0);
  CHECK(share(path, PathPart::kGaps) < 0.05);
  CHECK(share(path, PathPart::kKernels) > 0.6);
}

TEST_CASE("in a replay of DataParallel the rest of a replica's thread is no time of the host's") {
  const test::TracePointer run =
      test::simulated(test::training({"model.name=gpt2", "batch_size=16", "parallel.strategy=dp",
                                      "parallel.world_size=4", "machine=a100-sxm-8"}));
  const CriticalPath of_run = analysis::critical_path(whole(*run));
  const CriticalPath path = analysis::critical_path(whole(*test::replayed(run)));
  CHECK(share(path, PathPart::kHost) == Approx(share(of_run, PathPart::kHost)).margin(0.1));
}

TEST_CASE("what a kernel waits for room on the SMs is the time of the kernel that has them") {
  const test::TracePointer run = test::simulated(
      {"workload=kernel", "kernel.count=16", "kernel.streams=4", "machine=a100-sxm-1", "steps=4"});
  const Measured measured = whole(*run);
  const CriticalPath path = analysis::critical_path(measured);
  check_is_path(path, measured);
  CHECK(share(path, PathPart::kKernels) > 0.9);
}

TEST_CASE("a replay waits for its batches as the run did") {
  const Settings settings =
      test::training({"model.name=mlp", "loader.num_workers=2", "loader.sample_ms=1"});
  const test::TracePointer run = test::simulated(settings), replay = test::replayed(run);
  CHECK(share(analysis::critical_path(whole(*run)), PathPart::kLoading) > 0.9);
  const Measured measured = whole(*replay);
  const CriticalPath path = analysis::critical_path(measured);
  CHECK(share(path, PathPart::kLoading) > 0.9);
  CHECK(path[PathPart::kUntold] == 0);
  const analysis::Partition partition = analysis::partition(measured);
  CHECK(static_cast<double>(partition[analysis::Part::kIdleData]) ==
        Approx(static_cast<double>(analysis::partition(whole(*run))[analysis::Part::kIdleData]))
            .epsilon(0.01));
}

TEST_CASE("of kernels without a host it is not told what they waited for") {
  const test::TracePointer run = test::simulated(test::training({"model.name=mlp"}));
  test::MadeTrace made(trace::OriginKind::kImported);
  std::map<trace::LaneId, trace::LaneId> lanes;
  Nanos kernels = 0;
  trace::for_each(run->spans(), [&](const trace::Span& span, trace::SpanId) {
    const trace::Lane& lane = run->lanes()[span.lane];
    if (lane.kind != trace::LaneKind::kStream || !trace::is_kernel(span.category)) return;
    if (!lanes.contains(span.lane)) lanes[span.lane] = made.trace.add_lane(lane);
    made.add(lanes[span.lane], run->name(span).c_str(), span.start, span.end(), span.category);
    kernels += span.duration;
  });
  const Measured measured = whole(made.trace);
  const CriticalPath path = analysis::critical_path(measured);
  check_is_path(path, measured);
  CHECK(path[PathPart::kKernels] == kernels);
  CHECK(path[PathPart::kUntold] > 10 * path[PathPart::kGaps]);
}

TEST_CASE("of a rank alone the wait for the others is no communication on its critical path") {
  test::MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId host = made.lane(trace::LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(trace::LaneKind::kStream, 0);
  trace::CollectiveDetail detail;
  detail.operation = "allreduce";
  detail.type = "Float";
  detail.elements_in = detail.elements_out = 1000;
  detail.group_size = 4;
  Nanos now = 0;
  std::uint32_t call = 0;
  for (const Nanos duration : {100'000, 100'000, 500'000}) {
    ++call;
    made.add(host, "cudaLaunchKernelExC", now, now + 5'000, trace::Category::kHostApi, call);
    trace::Span span;
    span.lane = stream;
    span.name = made.trace.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    span.start = now + 10'000;
    span.duration = duration;
    span.category = trace::Category::kCollective;
    span.correlation = call;
    span.detail = made.trace.add_detail(detail);
    made.trace.add_span(span);
    now = span.end();
  }
  const Measured measured = whole(made.trace);
  const CriticalPath path = analysis::critical_path(measured);
  check_is_path(path, measured);
  CHECK(path[PathPart::kAbsent] == 400'000);
  // The host called the one before without waiting for it.
  CHECK(path[PathPart::kCommunication] == 100'000);
}

TEST_CASE("a copy of pageable memory whose staging a trace does not tell apart is staged") {
  for (const trace::Memory from : {trace::Memory::kPageable, trace::Memory::kPinned}) {
    test::MadeTrace made(trace::OriginKind::kImported);
    trace::CopyDetail detail;
    detail.from = from;
    detail.to = trace::Memory::kDevice;
    trace::Span span;
    span.lane = made.lane(trace::LaneKind::kStream, 0);
    span.name = made.trace.intern("Memcpy HtoD");
    span.duration = 100'000;
    span.category = trace::Category::kCopyH2D;
    span.detail = made.trace.add_detail(detail);
    made.trace.add_span(span);
    const CriticalPath path = analysis::critical_path(whole(made.trace));
    const bool is_staged = from == trace::Memory::kPageable;
    CHECK(path[is_staged ? PathPart::kStaging : PathPart::kCopies] == 100'000);
  }
  // So it is in a replay, which has copies of pageable memory as a profiler has them.
  const test::TracePointer run =
      test::simulated({"workload=copy", "copy.count=5", "copy.memory=pageable"});
  const CriticalPath path = analysis::critical_path(whole(*test::replayed(run)));
  CHECK(share(path, PathPart::kStaging) ==
        Approx(share(analysis::critical_path(whole(*run)), PathPart::kStaging)).margin(0.05));
}

TEST_CASE("what waited for a lock goes on by itself: not by what the lock's holder waited for") {
  // The loader keeps up: its pin thread sometimes has the interpreter's lock for some microseconds.
  const scenario::Lesson lesson = scenario::find_lesson("num-workers");
  const analysis::Run run =
      analysis::run_config("A", lesson.side("A", test::config_of({"machine=t4-1"})));
  CHECK(run.facts.partition[analysis::Part::kIdleData] == 0);
  const CriticalPath path = path_of(run);
  check_is_path(path, run.facts.measured);
  CHECK(share(path, PathPart::kLoading) < 0.05);
  CHECK(share(path, PathPart::kHost) > 0.9);
}

TEST_CASE("a critical path that is no longer wanted is given up") {
  test::MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId stream = made.lane(trace::LaneKind::kStream, 0);
  for (Nanos i = 0; i < 10'000; ++i)
    made.add(stream, "kernel", i * 1000, (i + 1) * 1000, trace::Category::kKernel);
  const Measured measured = whole(made.trace);
  int asked = 0;
  const auto give_up_at = [&](int most) {
    asked = 0;
    return analysis::critical_path(measured, [&asked, most] { return ++asked >= most; });
  };
  CHECK(give_up_at(1'000'000)[PathPart::kKernels] == 10'000'000);
  const int all = asked;
  CHECK(all > 4);  // before each part of the work, and along the path
  for (int most = 1; most <= all; ++most) {
    CHECK(give_up_at(most).pieces.empty());
    CHECK(asked == most);
  }
}

TEST_CASE("a call that waits for a device at rest only takes its time") {
  test::MadeTrace made(trace::OriginKind::kImported);
  const trace::LaneId host = made.lane(trace::LaneKind::kHostThread);
  const trace::LaneId stream = made.lane(trace::LaneKind::kStream, 0);
  using trace::Category;
  made.add(host, "cudaLaunchKernel", 0, 10'000, Category::kHostApi, 1);
  made.add(stream, "kernel", 20'000, 120'000, Category::kKernel, 1);
  made.add(host, "cudaDeviceSynchronize", 520'000, 920'000, Category::kHeld);
  const CriticalPath path = analysis::critical_path(whole(made.trace));
  CHECK(path[PathPart::kUntold] == 0);
  CHECK(path[PathPart::kHost] == 920'000);
}

TEST_CASE("a trace without spans has no critical path") {
  const trace::Trace empty{trace::Origin{}};
  const CriticalPath path = analysis::critical_path(whole(empty));
  CHECK(path.pieces.empty());
  CHECK(analysis::shares_in_words(path).empty());
}

TEST_CASE("the path calls the time between kernels as the partition does") {
  CHECK(analysis::name_of(PathPart::kGaps) == analysis::name_of(analysis::Part::kIdleGap));
}
