#include "analysis/steps/range_use.h"

#include <catch2/catch.hpp>
#include <random>

using namespace trainscope;
using namespace trainscope::trace;
using trainscope::analysis::Interval;
using trainscope::analysis::LaneUse;
using trainscope::analysis::RangeUse;
using trainscope::analysis::use_within;

namespace {

void add_span(Trace& trace, LaneId lane, Nanos start, Nanos duration, DetailId detail = kNone) {
  Span span;
  span.lane = lane;
  span.start = start;
  span.duration = duration;
  span.detail = detail;
  span.name = trace.intern("work");
  trace.add_span(span);
}

// The plain reference: one truth a nanosecond.
LaneUse plain(const Trace& trace, LaneId lane, const Interval& range) {
  LaneUse use;
  use.lane = lane;
  std::vector<bool> busy(static_cast<std::size_t>(range.end - range.start), false);
  for (SpanId id = 0; id < trace.spans().size(); ++id) {
    const Span& span = trace.spans()[id];
    if (span.lane != lane) continue;
    const bool instant = span.duration == 0 && span.start >= range.start && span.start < range.end;
    bool runs = false;
    for (Nanos t = std::max(span.start, range.start); t < std::min(span.end(), range.end); ++t)
      busy[static_cast<std::size_t>(t - range.start)] = runs = true;
    use.spans += instant || runs;
  }
  use.busy = std::count(busy.begin(), busy.end(), true);
  return use;
}

}  // namespace

TEST_CASE("a range's use counts what runs within it, and time with two spans only once") {
  Trace trace{Origin{}};
  const LaneId lane = trace.add_lane({}), idle = trace.add_lane({});
  add_span(trace, lane, 0, 10);  // half of it lies before the range
  add_span(trace, lane, 12, 8);  // with one inside it
  add_span(trace, lane, 14, 2);
  add_span(trace, lane, 25, 30);  // goes on after the range
  add_span(trace, lane, 60, 5);
  const RangeUse use = use_within(trace, build_index(trace), {5, 35});
  REQUIRE(use.lanes.size() == 2);
  CHECK(use.lanes[lane].spans == 4);
  CHECK(use.lanes[lane].busy == 5 + 8 + 10);
  CHECK(use.share(use.lanes[lane]) == Approx(23.0 / 30));
  CHECK(use.lanes[idle].spans == 0);
  CHECK(use.share(use.lanes[idle]) == 0);
}

TEST_CASE("a copy that is partly in the range counts with that part of its bytes") {
  Trace trace{Origin{}};
  const LaneId lane = trace.add_lane({});
  CopyDetail copy;
  copy.bytes = 1000;
  const DetailId detail = trace.add_detail(copy);
  add_span(trace, lane, 0, 100, detail);
  add_span(trace, lane, 200, 100, detail);
  CHECK(use_within(trace, build_index(trace), {75, 300}).lanes[0].bytes == Approx(250 + 1000));
}

TEST_CASE("the use of random ranges agrees with a plain count of nanoseconds") {
  std::mt19937 random(3);
  const auto below = [&](int n) { return static_cast<Nanos>(random() % static_cast<unsigned>(n)); };
  std::size_t spans = 0;
  for (int round = 0; round < 400; ++round) {
    Trace trace{Origin{}};
    for (int i = 0; i < 3; ++i) trace.add_lane({});
    for (Nanos i = below(40); i > 0; --i)
      add_span(trace, static_cast<LaneId>(below(3)), below(90), below(3) == 0 ? 0 : below(25));
    const TraceIndex index = build_index(trace);
    const Interval range{below(60), 60 + below(60)};
    const RangeUse use = use_within(trace, index, range);
    for (const LaneUse& lane : use.lanes) {
      const LaneUse expected = plain(trace, lane.lane, range);
      REQUIRE(lane.spans == expected.spans);
      REQUIRE(lane.busy == expected.busy);
      spans += lane.spans;
    }
  }
  CHECK(spans > 400);
}
