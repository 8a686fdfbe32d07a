// What profilers write of the devices of other makers.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "trace/given_events.h"

using namespace trainscope;
using namespace trainscope::trace;
using test::events;

TEST_CASE("work on Meta's accelerators is a kernel, and its runtime's calls launch it") {
  const auto trace = events(
      R"({"ph": "X", "cat": "mtia_runtime", "name": "launch", "pid": 1, "tid": 1, "ts": 1, "dur": 2,)"
      R"( "args": {"correlation": 5}}, {"ph": "X", "cat": "mtia_ccp_events", "name": "mm", "pid": 0,)"
      R"( "tid": 7, "ts": 9, "dur": 3, "args": {"device": 0, "stream": 7, "correlation": 5}})");
  REQUIRE(trace->spans().size() == 2);
  CHECK(trace->spans()[0].category == Category::kHostApi);
  CHECK(trace->spans()[1].category == Category::kKernel);
  CHECK(trace->lanes()[trace->spans()[1].lane].kind == LaneKind::kStream);
}

TEST_CASE("copies on Intel's GPUs have their directions") {
  const auto category = [](const char* name) {
    const auto trace = events(fmt::format(
        R"({{"ph": "X", "cat": "gpu_memcpy", "name": "{}", "pid": 0, "tid": 7, "ts": 9, "dur": 3,)"
        R"( "args": {{"device": 0, "stream": 7}}}})",
        name));
    REQUIRE(trace->spans().size() == 1);
    return trace->spans()[0].category;
  };
  CHECK(category("Memcpy M2D (MEMORY(Unknown) -> DEVICE)") == Category::kCopyH2D);
  CHECK(category("Memcpy H2D (HOST -> DEVICE)") == Category::kCopyH2D);
  CHECK(category("Memcpy D2M") == Category::kCopyD2H);
  CHECK(category("Memcpy D2D (DEVICE -> DEVICE)") == Category::kCopyD2D);
}

TEST_CASE("a copy that AMD's runtime waits for holds its host, an asynchronous one does not") {
  const auto category = [](const char* call) {
    const auto trace = events(fmt::format(
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "{}", "pid": 1, "tid": 1, "ts": 9,)"
        R"( "dur": 3, "args": {{"correlation": 5}}}})",
        call));
    REQUIRE(trace->spans().size() == 1);
    return trace->spans()[0].category;
  };
  for (const char* call :
       {"hipMemcpyWithStream", "hipMemcpy", "cudaMemcpy2D_v3020", "cuMemcpyDtoH_v2"})
    CHECK(category(call) == Category::kHeld);
  for (const char* call : {"hipMemcpyAsync", "cuMemcpyDtoHAsync_v2", "cudaMemcpyBatchAsync"})
    CHECK(category(call) == Category::kHostApi);
}
