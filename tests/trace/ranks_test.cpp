#include "trace/ranks.h"

#include <catch2/catch.hpp>
#include <string>

#include "trace/random_trace.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

SpanId add_span(Trace& trace, LaneId lane, Nanos start, DetailId detail = kNone) {
  Span span;
  span.lane = lane;
  span.start = start;
  span.duration = 10;
  span.name = trace.intern("at " + std::to_string(start));
  span.detail = detail;
  return trace.add_span(span);
}

DetailId kernel_on(Trace& trace, std::int32_t device) {
  KernelDetail kernel;
  kernel.device = device;
  return trace.add_detail(kernel);
}

std::int32_t device_of(const Trace& trace, SpanId span) {
  return std::get<KernelDetail>(*trace.detail(trace.spans()[span])).device;
}

AllocatorEvent event_on(std::int32_t device) {
  AllocatorEvent event;
  event.device = device;
  return event;
}

}  // namespace

TEST_CASE("a rank that stands for all is each of them, on the GPU of its number") {
  Trace trace({});
  const LaneId host = trace.add_lane({"host main", LaneKind::kHostThread, 0, -1, 0, 0, "rank 0"});
  const LaneId stream = trace.add_lane({"stream 7", LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  const SpanId call = add_span(trace, host, 0);
  trace.add_flow({call, add_span(trace, stream, 20, kernel_on(trace, 0)), FlowKind::kLaunch});
  trace.add_allocator_event(event_on(0));

  const auto part = part_of_rank(trace, 3);
  REQUIRE(part->lanes().size() == 2);
  CHECK(part->lanes()[host].rank == 3);
  CHECK(part->lanes()[host].group == "rank 3");
  CHECK(part->lanes()[stream].device == 3);
  CHECK(part->lanes()[stream].group == "GPU 3");
  CHECK(device_of(*part, 1) == 3);
  CHECK(part->flows().size() == 1);
  CHECK(part->allocator_events()[0].device == 3);
}

TEST_CASE("a rank's part has its lanes and the marks of steps that one rank bears for all") {
  Trace trace({});
  const LaneId steps = trace.add_lane({"steps", LaneKind::kSteps, 0, -1, 0, 0, "host"});
  const LaneId first = trace.add_lane({"stream 7", LaneKind::kStream, 0, 0, 0, 7, "GPU 0"});
  const LaneId second = trace.add_lane({"stream 7", LaneKind::kStream, 1, 1, 0, 7, "GPU 1"});
  add_span(trace, steps, 0);
  const SpanId from = add_span(trace, first, 1, kernel_on(trace, 0));
  const SpanId to = add_span(trace, second, 2, kernel_on(trace, 1));
  trace.add_flow({from, to, FlowKind::kGradient});
  trace.add_sample({5, 1.0, first});
  trace.add_allocator_event(event_on(0));
  trace.add_allocator_event(event_on(1));

  const auto part = part_of_rank(trace, 1);
  CHECK(ranks_of(*part) == std::vector<int>{1});
  REQUIRE(part->spans().size() == 2);
  CHECK(part->lanes()[part->spans()[0].lane].kind == LaneKind::kSteps);
  CHECK(part->name(part->spans()[1]) == "at 2");
  CHECK(device_of(*part, 1) == 1);
  CHECK(part->flows().empty());
  CHECK(part->samples().empty());
  CHECK(part->allocator_events().size() == 1);
}

TEST_CASE("of one process with several GPUs, a part is one GPU and the process") {
  Trace trace({});
  const LaneId host = trace.add_lane({"host main", LaneKind::kHostThread, 0, -1, 0, 0, ""});
  for (int gpu = 0; gpu < 3; ++gpu)
    add_span(trace, trace.add_lane({"stream 7", LaneKind::kStream, 0, gpu, 0, 7, ""}), gpu,
             kernel_on(trace, gpu));
  add_span(trace, host, 9);
  const auto part = part_of_rank(trace, 2);
  CHECK(ranks_of(*part) == std::vector<int>{0});
  CHECK(devices_of(*part) == std::vector<int>{2});
  REQUIRE(part->spans().size() == 2);
  CHECK(device_of(*part, 0) == 2);
}

TEST_CASE("the parts of all ranks have every span once, beside the marks of steps") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto trace = test::RandomTrace(seed).make(12, 200);
    const std::vector<int> ranks = ranks_of(*trace);
    if (ranks.size() < 2) continue;
    const auto plain = [](const Trace& one) {
      int count = 0;
      for_each(one.spans(), [&](const Span& span, std::uint32_t) {
        count += one.lanes()[span.lane].kind != LaneKind::kSteps ? 1 : 0;
      });
      return count;
    };
    int sum = 0;
    for (const int rank : ranks) sum += plain(*part_of_rank(*trace, rank));
    CHECK(sum == plain(*trace));
  }
}
