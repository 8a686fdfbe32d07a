// Golden counts of traces that PyTorch wrote on real GPUs (shared/traces/README.md).
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "support/skip.h"
#include "support/traces.h"
#include "trace/chrome_reader.h"
#include "trace/given_events.h"
#include "trace/index.h"

using namespace trainscope;
using namespace trainscope::trace;
using test::lost;

namespace {

std::unique_ptr<Trace> real_trace(const std::string& name) {
  return read_chrome_trace(test::real_traces_folder() / (name + ".json.gz"));
}

struct Counts {
  std::map<Category, int> spans;
  int of(std::initializer_list<Category> categories) {
    int sum = 0;
    for (const Category category : categories) sum += spans[category];
    return sum;
  }
  int host() { return of({Category::kHostWork}); }
  int calls() { return of({Category::kHostApi, Category::kHeld}); }
  int kernels() {
    return of({Category::kKernel, Category::kForward, Category::kBackward, Category::kOptimizer,
               Category::kCollective});
  }
  int copies() { return of({Category::kCopyH2D, Category::kCopyD2H, Category::kCopyD2D}); }
};

Counts count(const Trace& trace) {
  Counts counts;
  for (SpanId id = 0; id < trace.spans().size(); ++id) ++counts.spans[trace.spans()[id].category];
  return counts;
}

int flows_of(const Trace& trace, FlowKind kind) {
  int count = 0;
  for (std::uint32_t i = 0; i < trace.flows().size(); ++i) count += trace.flows()[i].kind == kind;
  return count;
}

std::vector<std::string> lane_names(const Trace& trace) {
  std::vector<std::string> names;
  for (LaneId id = 0; id < trace.lanes().size(); ++id)
    names.push_back(trace.lanes()[id].group + ": " + trace.lanes()[id].name);
  return names;
}

// What holds of every trace that was read.
void check_sound(const Trace& trace) {
  std::set<LaneId> used;
  Nanos first = trace.end();
  for (SpanId id = 0; id < trace.spans().size(); ++id) {
    const Span& span = trace.spans()[id];
    used.insert(span.lane);
    first = std::min(first, span.start);
    REQUIRE(span.duration >= 0);
    if (span.cause_span == kNone) continue;
    const Span& launch = trace.spans()[span.cause_span];
    REQUIRE(launch.correlation == span.correlation);
    REQUIRE(launch.start <= span.start);
    REQUIRE(span.cause == Cause::kLaunch);
  }
  for (std::uint32_t i = 0; i < trace.samples().size(); ++i) used.insert(trace.samples()[i].lane);
  CHECK(first == 0);
  CHECK(used.size() == trace.lanes().size());  // no empty rows
  CHECK(trace.origin().kind == OriginKind::kImported);
  CHECK(trace.origin().detail.starts_with("PyTorch profiler, schema 1"));
  for (std::uint32_t i = 0; i < trace.flows().size(); ++i) {
    const Flow flow = trace.flows()[i];
    REQUIRE(flow.from < trace.spans().size());
    REQUIRE(flow.to < trace.spans().size());
    const Span& to = trace.spans()[flow.to];
    if (flow.kind == FlowKind::kLaunch && is_gpu_work(to.category))
      REQUIRE(to.cause_span == flow.from);
  }
}

}  // namespace

TEST_CASE("the DDP trace of two ranks is read whole") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto trace = real_trace("ddp-a100-2ranks");
  check_sound(*trace);
  Counts counts = count(*trace);
  CHECK(trace->spans().size() == 26'933);
  CHECK(trace->dropped_events() == 0);
  CHECK(counts.host() == 14'346);
  CHECK(counts.calls() == 8'740);
  CHECK(counts.of({Category::kHeld}) == 25);  // 24 event and one device synchronisation
  CHECK(counts.kernels() == 2'700);
  CHECK(counts.of({Category::kCollective}) == 21);
  CHECK(counts.of({Category::kMemset}) == 114);
  CHECK(counts.copies() == 960);
  CHECK(counts.of({Category::kAnnotation}) == 42 + 30 + 1);  // the last: the profiler's record
  CHECK(counts.of({Category::kOther}) == 0);

  // 8,652 ends and 3,862 starts of launches.
  CHECK(flows_of(*trace, FlowKind::kLaunch) == 3'774);
  CHECK(flows_of(*trace, FlowKind::kForwardBackward) == 543);
  CHECK(lost(*trace, "arrow that ends but does not start") == 8'652 - 3'774);
  CHECK(lost(*trace, "arrow that starts but does not end") == 3'862 - 3'774);
  CHECK(lost(*trace, "instant event") == 2);

  CHECK(trace->origin().subject == "ddp-a100-2ranks.json.gz");
  CHECK(trace->origin().detail ==
        "PyTorch profiler, schema 1, node of 8 x NVIDIA A100-PG509-200, rank 0 of 2");
  // 1711964646000000000 + 4458676388068.751 us
  CHECK(trace->origin().clock_start == 1'716'423'322'388'068'751);
  CHECK(trace->end() == 713'092'254);
  CHECK(lane_names(*trace) ==
        std::vector<std::string>{
            "rank 0: steps", "rank 0: thread 2910249 (pt_main_thread)", "rank 0: thread -549452224",
            "rank 0: thread 2919752 (pt_autograd_0)", "GPU 0: stream 7 annotations",
            "GPU 0: stream 7", "GPU 0: stream 40 annotations", "GPU 0: stream 40",
            "Spans: PyTorch Profiler"});
}

TEST_CASE("each kernel of the DDP trace has its launch, its phase and its detail") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto trace = real_trace("ddp-a100-2ranks");
  Counts counts = count(*trace);
  CHECK(counts.spans[Category::kKernel] == 0);
  CHECK(counts.spans[Category::kForward] == 873);
  CHECK(counts.spans[Category::kBackward] == 1'779);
  CHECK(counts.spans[Category::kOptimizer] == 27);
  int reduces = 0;
  for (SpanId id = 0; id < trace->spans().size(); ++id) {
    const Span& span = trace->spans()[id];
    if (!is_gpu_work(span.category)) continue;
    REQUIRE(span.cause_span != kNone);
    REQUIRE(trace->detail(span) != nullptr);
    if (span.category != Category::kCollective) continue;
    const auto& collective = std::get<CollectiveDetail>(*trace->detail(span));
    CHECK(collective.group_size == 2);
    CHECK((collective.type == "Float" || collective.type == "Long"));
    CHECK(collective.kernel.stream == 40);
    reduces += collective.operation == "allreduce";
  }
  CHECK(reduces == 15);
}

TEST_CASE("the schema of 2021 is read as the newer ones are") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto trace = real_trace("resnet50-v100-2021-schema");
  check_sound(*trace);
  Counts counts = count(*trace);
  CHECK(trace->spans().size() == 44'666);
  CHECK(trace->dropped_events() == 0);
  CHECK(counts.host() == 23'646 - 6 - 6);  // the steps are marks
  CHECK(counts.of({Category::kLoader}) == 6);
  CHECK(counts.of({Category::kAnnotation}) == 6 + 1);
  CHECK(counts.calls() == 11'923);
  CHECK(counts.of({Category::kHeld}) == 13 + 12);  // synchronisations, copies of pageable memory
  CHECK(counts.kernels() == 8'772);
  CHECK(counts.copies() == 12);
  CHECK(counts.of({Category::kMemset}) == 312);
  CHECK(flows_of(*trace, FlowKind::kLaunch) == 9'096);
  CHECK(lost(*trace, "arrow that ends but does not start") == 0);
  CHECK(lost(*trace, "memory event without totals and bytes") == 0);
  CHECK(trace->samples().size() == 12'838);
  CHECK(lane_names(*trace) ==
        std::vector<std::string>{
            "python: steps", "python: thread 25738 (python)", "python: thread 25772 (python)",
            "GPU 0: stream 7", "python: host memory above its least",
            "GPU 0: GPU 0 memory above its least", "Traces: PyTorch Profiler"});
  for (SpanId id = 0; id < trace->spans().size(); ++id) {
    if (!is_copy(trace->spans()[id].category)) continue;
    const auto& copy = std::get<CopyDetail>(*trace->detail(trace->spans()[id]));
    CHECK(copy.from == Memory::kPageable);
    CHECK(copy.to == Memory::kDevice);
    CHECK(copy.stream == 7);
    CHECK(copy.bytes > 0);
  }
}

TEST_CASE("synchronisation records are read with what they wait for") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto alexnet = real_trace("alexnet");
  check_sound(*alexnet);
  Counts counts = count(*alexnet);
  CHECK(counts.host() == 359);
  CHECK(counts.calls() == 361);
  CHECK(counts.of({Category::kHeld}) == 16 + 5 + 16);  // the last: copies of pageable memory
  CHECK(counts.kernels() == 79);
  CHECK(counts.copies() == 16);
  CHECK(counts.of({Category::kMemset}) == 3);
  CHECK(counts.of({Category::kSync}) == 41);
  CHECK(counts.of({Category::kAnnotation}) == 8 + 1);
  CHECK(alexnet->spans().size() == 868);

  const auto streams = real_trace("three-streams-events");
  check_sound(*streams);
  counts = count(*streams);
  CHECK(counts.host() == 6);
  CHECK(counts.calls() == 39);
  CHECK(counts.of({Category::kSync}) == 5);
  CHECK(counts.of({Category::kMemset}) == 3);
  CHECK(counts.kernels() == 3);
  CHECK(flows_of(*streams, FlowKind::kLaunch) == 8);
  int whole_device = 0;
  for (SpanId id = 0; id < streams->spans().size(); ++id) {
    const Span& span = streams->spans()[id];
    if (span.category != Category::kSync) continue;
    const auto& sync = std::get<SyncDetail>(*streams->detail(span));
    CHECK(!sync.kind.empty());
    whole_device += sync.stream == -1;
  }
  CHECK(whole_device == 4);
}

TEST_CASE("a trace without a GPU is read") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto trace = real_trace("cpu-only");
  check_sound(*trace);
  Counts counts = count(*trace);
  CHECK(counts.host() == 4 + 10);  // of the marks, ten are collectives that Gloo carries out
  CHECK(counts.of({Category::kAnnotation}) == 1 + 1);
  CHECK(trace->lanes()[0].rank == 34);
  CHECK(trace->lanes()[0].kind == LaneKind::kSteps);
}

TEST_CASE("the index of a real trace holds every span once, in rows that do not overlap") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces on this machine");
  const auto trace = real_trace("ddp-a100-2ranks");
  const TraceIndex index = build_index(*trace);
  std::size_t held = 0;
  for (const LaneIndex& lane : index.lanes)
    for (const Row& row : lane.rows) {
      held += row.spans.size();
      for (std::size_t i = 1; i < row.spans.size(); ++i)
        REQUIRE(trace->spans()[row.spans[i - 1]].end() <= trace->spans()[row.spans[i]].start);
    }
  CHECK(held == trace->spans().size());
}
