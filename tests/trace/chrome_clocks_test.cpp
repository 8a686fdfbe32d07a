// Events and values of another clock than the rest of a file, and what hung on them.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "trace/given_events.h"

using namespace trainscope;
using namespace trainscope::trace;
using test::complete;
using test::events;
using test::lost;

TEST_CASE("an event of another clock does not stretch the axis: it is dropped, and counted") {
  const std::string kReason = "complete event hours away from all others, as of another clock";
  std::string list;
  for (int i = 0; i < 10; ++i) list += complete(fmt::format("171200000000000{}", i), "1") + ",";
  const std::string last = complete("1712000000000020", "1");
  const auto length_with = [&](const std::string& stray) {
    const auto trace = events(list + stray + last);
    Nanos end = 0;
    for_each(trace->spans(), [&](const Span& span, SpanId) { end = std::max(end, span.end()); });
    return std::pair(end, lost(*trace, kReason));
  };
  const Nanos plain = length_with("").first;
  CHECK(plain == 21'000);
  CHECK(length_with(complete("0", "1") + ",") == std::pair(plain, std::int64_t{1}));
  CHECK(length_with(complete("2000000000000000", "1") + ",") == std::pair(plain, std::int64_t{1}));
  CHECK(length_with(complete("1712000000000005", "4000000000000") + ",") ==
        std::pair(plain, std::int64_t{1}));
  // Half an hour away is a pause.
  CHECK(length_with(complete("1711998200000000", "1") + ",").second == 0);
}

TEST_CASE("a counter's value of another clock does not stretch the axis either") {
  const auto counter = [](const char* ts) {
    return fmt::format(
        R"({{"ph": "C", "name": "SM", "pid": 1, "tid": 1, "ts": {}, "args": {{"value": 5}}}},)",
        ts);
  };
  const auto trace =
      events(counter("1712000000000001") + counter("1") + complete("1712000000000000", "3") + "," +
             complete("1712000000000004", "3"));
  CHECK(trace->samples().size() == 1);
  CHECK(trace->spans().size() == 2);
  CHECK(trace->end() == 7'000);
  CHECK(lost(*trace, "counter value hours away from all else, as of another clock") == 1);
}

TEST_CASE("a run whose events are hours apart keeps them all") {
  std::string list;
  for (int i = 0; i < 40; ++i) list += complete(fmt::format("{}", i * 4'000'000'000LL), "1") + ",";
  list.pop_back();
  CHECK(events(list)->spans().size() == 40);
  // Two recordings in one file, a day apart.
  list.clear();
  for (int i = 0; i < 20; ++i)
    list += complete(fmt::format("{}", i + (i < 8 ? 0 : 86'400'000'000LL)), "1") + ",";
  list.pop_back();
  CHECK(events(list)->spans().size() == 20);
}

TEST_CASE("what a dropped event launched, or an arrow to it, is joined to nothing else") {
  const auto trace = events(
      R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
          "ts": 1, "dur": 1, "args": {"correlation": 5}},
         {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
          "ts": 1712000000000000, "dur": 1, "args": {"correlation": 6}},
         {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1712000000000002,
          "dur": 1, "args": {"correlation": 5}},
         {"ph": "X", "cat": "kernel", "name": "m", "pid": 0, "tid": 7, "ts": 1712000000000004,
          "dur": 1, "args": {"correlation": 6}})");
  REQUIRE(trace->spans().size() == 3);
  CHECK(trace->spans()[1].cause_span == kNone);
  CHECK(trace->spans()[2].cause_span == 0);
}
