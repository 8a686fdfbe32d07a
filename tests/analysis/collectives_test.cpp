#include "analysis/views/collectives.h"

#include <catch2/catch.hpp>
#include <vector>

#include "analysis/runs/run.h"
#include "support/config.h"
#include "trace/labels.h"

using namespace trainscope;

namespace {

constexpr const char* kKernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

// Of four ranks, 1,000 elements and 10 us.
struct Collective {
  const char* operation;
  const char* type;
};

analysis::CollectiveTimes of(const std::vector<Collective>& collectives,
                             const char* kernel = kKernel) {
  trace::Trace trace{trace::Origin{}};
  trace::Lane lane;
  lane.kind = trace::LaneKind::kStream;
  lane.device = 3;  // of a rank's own trace
  trace::Span span;
  span.duration = 10'000;
  span.category = trace::Category::kCollective;
  span.lane = trace.add_lane(lane);
  span.name = trace.intern(kernel);
  for (const Collective& one : collectives) {
    trace::CollectiveDetail detail;
    detail.operation = one.operation;
    detail.type = one.type;
    detail.elements_in = detail.elements_out = 1000;
    detail.group_size = 4;
    span.detail = trace.add_detail(detail);
    trace.add_span(span);
    span.start += span.duration;
  }
  return analysis::collective_times(analysis::measure_whole(trace, nullptr, nullptr));
}

analysis::CollectiveTimes of(const char* operation, const char* type,
                             const char* kernel = kKernel) {
  return of({{operation, type}}, kernel);
}

}  // namespace

TEST_CASE("a collective moves as many bytes as its elements have, whatever its type") {
  CHECK(of("allreduce", "Float").bytes == 4000);
  CHECK(of("allreduce", "Half").bytes == 2000);
  CHECK(of("allreduce", "BFloat16").bytes == 2000);
  CHECK(of("allreduce", "Long").bytes == 8000);
  CHECK(of("allreduce", "Short").bytes == 2000);
  CHECK(of("_allgather_base", "Float8_e4m3fn").bytes == 1000);
  CHECK(of("_allgather_base", "Float8_e5m2").bytes == 1000);
}

TEST_CASE("the traffic factor is the operation's, under each of its names") {
  CHECK(of("allreduce", "Float").bus_bytes == Approx(4000 * 1.5));
  CHECK(of("_allgather_base", "Float").bus_bytes == Approx(4000 * 0.75));
  CHECK(of("_reduce_scatter_base", "Float").bus_bytes == Approx(4000 * 0.75));
  CHECK(of("broadcast", "Float").bus_bytes == 4000);
  for (const char* all_to_all : {"all_to_all", "all_to_allv", "alltoall_base"})
    CHECK(of(all_to_all, "Float").bus_bytes == Approx(4000 * 0.75));
  CHECK(of("allreduce", "Float", "ncclDevKernel_AllReduce_Sum_f32_NVLS").wire_bytes ==
        Approx(4000 * 1.25));
}

TEST_CASE("where a trace does not tell what was moved, nothing is said of it") {
  for (const auto& one : {of("allreduce", "Quint4x2"), of("coalesced", "Float")}) {
    CHECK(one.count == 1);
    CHECK(one.bytes == 0);
    CHECK(one.bus_bytes == 0);
    CHECK(one.wire_bytes == 0);
  }
}

TEST_CASE("what is told of some collectives is said, whatever else there is") {
  const auto sum = of("allreduce", "Float");
  for (const Collective& other : {Collective{"coalesced", "Float"}, {"barrier", "Byte"}}) {
    CAPTURE(other.operation);
    const auto both = of({{"allreduce", "Float"}, other});
    CHECK(both.count == 2);
    CHECK(both.bytes == sum.bytes);
    CHECK(both.wire_bytes == sum.wire_bytes);
    CHECK(both.intervals.length() == sum.intervals.length());
  }
}

TEST_CASE("between nodes the network is what a large sum uses up, within one their links") {
  for (const auto& [machine, ranks] : {std::pair{"machine=dgx1-v100-8", "collective.ranks=8"},
                                       {"machine=dgx1-v100-8x2", "collective.ranks=16"}}) {
    const analysis::Run run = analysis::run_config(
        "A",
        test::config_of({"workload=collective", "collective.bytes=1073741824", machine, ranks}));
    const auto used = analysis::value_of(run.metrics, "link.utilization");
    INFO(machine);
    REQUIRE(used);
    CHECK(*used > 0.6);
    CHECK(*used <= 1);
  }
}

TEST_CASE("how a collective is carried out is told by its run, and hardly by its kernel's name") {
  const auto way = [](trace::OriginKind origin, const char* kernel, const char* algorithm = "",
                      const char* protocol = "") {
    trace::Trace trace{trace::Origin{origin, "test", ""}};
    trace::CollectiveDetail detail;
    detail.operation = "allreduce";
    detail.algorithm = algorithm;
    detail.protocol = protocol;
    trace::Span span;
    span.category = trace::Category::kCollective;
    span.name = trace.intern(kernel);
    trace::Lane stream;
    stream.kind = trace::LaneKind::kStream;
    span.lane = trace.add_lane(stream);
    span.detail = trace.add_detail(detail);
    trace.add_span(span);
    const analysis::CollectiveWay found = analysis::way_of(trace, trace.spans()[0]);
    return found.algorithm + " " + found.protocol;
  };
  using trace::OriginKind;
  const char* ring = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  CHECK(way(OriginKind::kSimulated, ring, "NVLS", "Simple") == "NVLS Simple");
  // A profiler's trace has that name for every sum but a tree's.
  CHECK(way(OriginKind::kImported, ring) == " ");
  CHECK(way(OriginKind::kImported, "ncclDevKernel_AllReduce_Sum_f32_TREE_LL(x)") == "tree ");
  // Runs of before had more in the name.
  CHECK(way(OriginKind::kSimulated, "ncclDevKernel_AllReduce_Sum_f32_NVLS_SIMPLE") ==
        "NVLS Simple");
  CHECK(way(OriginKind::kSimulated, "ncclDevKernel_AllReduce_Sum_f32_RING_LL128") == "ring LL128");
  CHECK(way(OriginKind::kSimulated, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") == "ring LL");
}

TEST_CASE("a simulated collective says how it is carried out, in its bar as well") {
  const analysis::Run run = analysis::run_config(
      "A", test::config_of({"workload=collective", "collective.bytes=1073741824", "machine=h200-8",
                            "collective.ranks=8", "collective.algorithm=ring",
                            "collective.protocol=ll128"}));
  int found = 0;
  trace::for_each(run.trace->spans(), [&](const trace::Span& span, trace::SpanId) {
    if (span.category != trace::Category::kCollective) return;
    ++found;
    CHECK(run.trace->name(span) == "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
    CHECK(trace::bar_label(*run.trace, span) == "all-reduce, ring, LL128");
    CHECK(trace::brief_label(*run.trace, span) == "all-reduce");
  });
  CHECK(found > 0);
}
