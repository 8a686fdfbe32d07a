// What record_stream prevents: memory that is handed out again while another stream still reads it.
#include <catch2/catch.hpp>

#include "analysis/runs/run.h"

using namespace trainscope;

namespace {

// A training loop that copies ahead on a stream of its own, and whose host runs ahead too.
analysis::Run prefetching(const char* record_stream) {
  program::Config config;
  for (const char* setting :
       {"workload=train", "steps=6", "machine=h200-1", "model.hidden=4096", "batch_size=4096",
        "data.source=tensor", "loader.pin_memory=true", "transfer.non_blocking=true",
        "transfer.streams=2", "transfer.prefetch=true"})
    config.set_text(setting);
  config.set_text(std::string("transfer.record_stream=") + record_stream);
  return analysis::run_config("A", config);
}

trace::LaneId lane(const trace::Trace& trace, std::string_view name) {
  for (std::uint32_t i = 0; i < trace.lanes().size(); ++i)
    if (trace.lanes()[i].name == name) return i;
  return trace::kNone;
}

}  // namespace

TEST_CASE("without record_stream a batch is overwritten while kernels still read it") {
  const analysis::Run run = prefetching("false");
  const trace::Trace& trace = *run.trace;
  const trace::LaneId overwritten = lane(trace, "overwritten too early");
  REQUIRE(overwritten != trace::kNone);
  const trace::LaneId copies = lane(trace, "stream 20");
  int found = 0;
  for (std::uint32_t i = 0; i < trace.spans().size(); ++i) {
    const trace::Span& span = trace.spans()[i];
    if (span.lane != overwritten) continue;
    ++found;
    const trace::Span& copy = trace.spans()[span.cause_span];
    CHECK(copy.lane == copies);
    CHECK(span.start == copy.start);
    CHECK(span.end() <= copy.end());
    CHECK(span.duration > 0);
    CHECK_THAT(std::string(trace.name(span.name)), Catch::Contains("overwritten before"));
  }
  CHECK(found > 0);
}

TEST_CASE("with record_stream memory waits for the stream that reads it") {
  const analysis::Run run = prefetching("true");
  CHECK(lane(*run.trace, "overwritten too early") == trace::kNone);
}
