// What operations, calls and their bars are called.
#include "trace/labels.h"

#include <catch2/catch.hpp>

#include "trace/api_name.h"
#include "trace/collective_kind.h"
#include "trace/same_collectives.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

// The label of a held span of that name.
std::string held(const std::string& name) {
  Trace trace{Origin{}};
  Lane lane;
  lane.kind = LaneKind::kHostThread;
  Span span;
  span.lane = trace.add_lane(lane);
  span.duration = 10;
  span.category = Category::kHeld;
  span.name = trace.intern(name);
  return bar_label(trace, trace.spans()[trace.add_span(span)]);
}

}  // namespace

TEST_CASE("a collective is one kind under each of its names") {
  for (const char* name : {"allreduce", "_allreduce_base", "allreduce_coalesced"})
    CHECK(kind_of(name) == CollectiveKind::kAllReduce);
  for (const char* name : {"reduce_scatter", "_reduce_scatter_base"}) {
    CHECK(kind_of(name) == CollectiveKind::kReduceScatter);
    CHECK(ends_together(name));
  }
  for (const char* name : {"allgather", "_allgather_base", "allgather_into_tensor_coalesced"})
    CHECK(kind_of(name) == CollectiveKind::kAllGather);
  for (const char* name : {"all_to_all", "all_to_allv", "alltoall_base"})
    CHECK(kind_of(name) == CollectiveKind::kAllToAll);
  CHECK(kind_of("reduce") == CollectiveKind::kReduce);
  CHECK(kind_of("_broadcast_oop") == CollectiveKind::kBroadcast);
  for (const char* name : {"send", "recv", "send_recv"})
    CHECK(kind_of(name) == CollectiveKind::kSendReceive);
  for (const char* name : {"", "barrier", "coalesced"}) CHECK_FALSE(kind_of(name));
}

TEST_CASE("calls of the runtime and the driver are told from operators that begin alike") {
  for (const char* call : {"cudaLaunchKernel", "cuLaunchKernelEx", "cuMemcpyAsync", "hipMemcpy"}) {
    CHECK(is_api_name(call));
    CHECK(held(call) == "held");
  }
  for (const char* own : {"cumsum", "custom_op", "cummax", "cu", "all-reduce"}) {
    CHECK_FALSE(is_api_name(own));
    CHECK(held(own) == own);
  }
}

TEST_CASE("where there is little room, a convolution is called by its size") {
  const auto brief = [](const char* name) {
    Trace trace{Origin{}};
    Span span;
    span.lane = trace.add_lane(Lane{});
    span.category = Category::kForward;
    span.name = trace.intern(name);
    return brief_label(trace, trace.spans()[trace.add_span(span)]);
  };
  CHECK(brief("conv fprop 3x3, 64 to 64: tensorop_16 nhwc 256x64") == "conv 3x3");
  CHECK(brief("conv wgrad 1x1, 64 to 256: simt_fp32 nchw 128x32") == "conv 1x1");
  CHECK(brief("conv 1") == "");
}
