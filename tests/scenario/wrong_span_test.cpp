#include "scenario/wrong_span.h"

#include <catch2/catch.hpp>

using namespace trainscope;
using namespace trainscope::scenario;

namespace {

// A run whose one span is this one, which was chosen in place of what was asked for.
std::string told(const Focus& asked, const char* side, const char* lane, const char* name,
                 std::uint16_t line = 0) {
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  trace::Lane row;
  row.name = lane;
  trace::Span span;
  span.lane = trace->add_lane(row);
  span.name = trace->intern(name);
  span.line = line;
  const trace::SpanId chosen = trace->add_span(span);
  analysis::Run run;
  run.label = side;
  run.trace = trace;
  return wrong_span(Lesson(), asked, run, chosen);
}

}  // namespace

TEST_CASE("what is wrong with a span is told in the order of side, lane, line and name") {
  Focus asked;
  asked.run = "B";
  asked.lane = "stream 7";
  asked.span = "gemm";
  asked.line = 14;
  CHECK(told(asked, "A", "host main", "gemm", 14) == "A is not the side that is meant: look in B.");
  CHECK(told(asked, "A", "stream 7", "relu", 14) == "The right lane, but of A: look in B.");
  CHECK(told(asked, "A", "stream 7", "gemm 32", 14) ==
        "The right span, but of A: look for it in B.");
  CHECK(told(asked, "B", "host main", "gemm", 14) == "The right side, but another lane.");
  CHECK(told(asked, "B", "stream 7", "gemm", 13) ==
        "The right lane, but another line of the listing caused it.");
  CHECK(told(asked, "B", "stream 7", "relu", 14) ==
        "The right lane and the right line, but another span of it.");
}

TEST_CASE("of the right kind it is told why another one is meant") {
  Focus asked;
  asked.run = "B";
  asked.lane = "stream 7";
  asked.span = "gemm";
  asked.which = WhichSpans::kLaunched;
  CHECK(told(asked, "B", "stream 7", "gemm") ==
        "It did not begin when it was launched: it waited for the work before it.");
  asked.which = WhichSpans::kExposed;
  CHECK(told(asked, "B", "stream 7", "gemm") ==
        "The right kind of span, but the GPU computes beside it.");
  CHECK(told(asked, "B", "stream 7", "relu") == "The right lane, but another kind of span.");
}

TEST_CASE("of numbered spans the right kind is told from another one") {
  Focus asked;
  asked.run = "B";
  asked.lane = "loader worker 0";
  asked.span = "load batch 8";
  CHECK(told(asked, "B", "loader worker 0", "load batch 16") ==
        "The right lane and the right kind of span, but another one of them.");
  CHECK(told(asked, "B", "loader worker 0", "start worker") ==
        "The right lane, but another kind of span.");
}

TEST_CASE("what a wrong span is told does not name the right one") {
  Focus asked;
  asked.run = "A";
  asked.lane = "staging";
  asked.span = "held";
  for (const char* lane : {"staging", "host main"})
    CHECK(told(asked, "A", lane, "relu").find("held") == std::string::npos);
  CHECK(told(asked, "A", "host main", "relu").find("staging") == std::string::npos);
}
