#include "trace/index.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "base/parallel.h"

using namespace trainscope;
using namespace trainscope::trace;

namespace {

SpanId add(Trace& trace, LaneId lane, Nanos start, Nanos end) {
  Span span;
  span.start = start;
  span.duration = end - start;
  span.lane = lane;
  span.name = trace.intern("s");
  return trace.add_span(span);
}

using Rows = std::vector<std::vector<SpanId>>;

Rows rows_of(const TraceIndex& index, LaneId lane) {
  Rows rows;
  for (const Row& row : index.lanes[lane].rows) rows.push_back(row.spans);
  return rows;
}

// The plain reference: each lane's spans sorted, each put below all that are still open.
Rows plain_rows(const Trace& trace, LaneId lane) {
  std::vector<SpanId> ids;
  for (SpanId id = 0; id < trace.spans().size(); ++id)
    if (trace.spans()[id].lane == lane) ids.push_back(id);
  std::stable_sort(ids.begin(), ids.end(), [&](SpanId a, SpanId b) {
    const Span &x = trace.spans()[a], &y = trace.spans()[b];
    return x.start != y.start ? x.start < y.start : x.duration > y.duration;
  });
  Rows rows;
  for (const SpanId id : ids) {
    std::size_t row = rows.size();
    while (row > 0 && trace.spans()[rows[row - 1].back()].end() <= trace.spans()[id].start) --row;
    if (row == rows.size()) rows.emplace_back();
    rows[row].push_back(id);
  }
  return rows;
}

}  // namespace

TEST_CASE("spans that follow one another share a row") {
  Trace trace({});
  trace.add_lane({});
  const SpanId b = add(trace, 0, 10, 20), a = add(trace, 0, 0, 10), c = add(trace, 0, 20, 20);
  const TraceIndex index = build_index(trace);
  CHECK(rows_of(index, 0) == Rows{{a, b, c}});
  CHECK(index.start == 0);
  CHECK(index.end == 20);
  CHECK(index.span_count == 3);
}

TEST_CASE("marks beside the run do not make it longer, unless they are all there is") {
  Trace trace({});
  Lane beside;
  beside.name = "PyTorch Profiler";
  Span mark;
  mark.lane = trace.add_lane(beside);
  mark.duration = 100;
  mark.category = Category::kAnnotation;
  trace.add_span(mark);
  CHECK(build_index(trace).end == 100);
  add(trace, trace.add_lane({}), 60, 70);
  CHECK(build_index(trace).start == 60);
  CHECK(build_index(trace).end == 70);
}

TEST_CASE("children stand below their parents, in whatever order they came") {
  Trace trace({});
  trace.add_lane({});
  const SpanId inner = add(trace, 0, 0, 5), child = add(trace, 0, 0, 10);
  const SpanId parent = add(trace, 0, 0, 100), later = add(trace, 0, 50, 60);
  CHECK(rows_of(build_index(trace), 0) == Rows{{parent}, {child, later}, {inner}});
}

TEST_CASE("spans that overlap without nesting go to rows of their own") {
  Trace trace({});
  trace.add_lane({});
  const SpanId a = add(trace, 0, 0, 10), b = add(trace, 0, 5, 15), c = add(trace, 0, 12, 20);
  const Rows rows = rows_of(build_index(trace), 0);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == std::vector<SpanId>{a});
  CHECK(rows[1] == std::vector<SpanId>{b});
  CHECK(rows[2] == std::vector<SpanId>{c});  // below b, which is still open
}

TEST_CASE("lanes without spans have no rows") {
  Trace trace({});
  trace.add_lane({});
  trace.add_lane({});
  add(trace, 1, 3, 4);
  const TraceIndex index = build_index(trace);
  REQUIRE(index.lanes.size() == 2);
  CHECK(index.lanes[0].rows.empty());
  CHECK(index.lanes[1].start == 3);
  CHECK(index.lanes[1].end == 4);
}

TEST_CASE("no two spans of a row overlap, and every span is in one") {
  std::mt19937 random(3);
  Trace trace({});
  for (int i = 0; i < 3; ++i) trace.add_lane({});
  std::uniform_int_distribution<Nanos> at(0, 5000), length(0, 60);
  for (int i = 0; i < 3000; ++i) {
    const Nanos start = at(random);
    add(trace, static_cast<LaneId>(i % 3), start, start + length(random));
  }
  std::size_t held = 0;
  for (const LaneIndex& lane : build_index(trace).lanes) {
    std::size_t in_lane = 0;
    for (const Row& row : lane.rows) {
      in_lane += row.spans.size();
      for (std::size_t i = 1; i < row.spans.size(); ++i)
        REQUIRE(trace.spans()[row.spans[i - 1]].end() <= trace.spans()[row.spans[i]].start);
    }
    CHECK(in_lane == lane.span_count);
    held += in_lane;
  }
  CHECK(held == 3000);
}

TEST_CASE("an index that several threads make is that of a plain sort, as one thread's is") {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (const int spans : {1'000, static_cast<int>(kWorthThreads) + 1}) {
    Trace trace({});
    for (int i = 0; i < 7; ++i) trace.add_lane({});
    for (int i = 0; i < spans; ++i) {
      // Even lanes in order, odd ones in any; the last has none.
      const int lane = below(6), start = lane % 2 == 0 ? i : below(spans);
      add(trace, static_cast<LaneId>(lane), start, start + below(40));
    }
    const TraceIndex index = build_index(trace);
    REQUIRE(index.lanes.size() == 7);
    CHECK(index.span_count == trace.spans().size());
    Nanos end = 0;
    for (LaneId lane = 0; lane < 7; ++lane) {
      CHECK(index.lanes[lane].lane == lane);
      CHECK((rows_of(index, lane) == plain_rows(trace, lane)));
      end = std::max(end, index.lanes[lane].end);
    }
    CHECK(index.lanes[6].span_count == 0);
    CHECK(index.end == end);
    CHECK(end == trace.end());
  }
}

TEST_CASE("the first span that ends after a time is found") {
  Trace trace({});
  trace.add_lane({});
  for (Nanos i = 0; i < 10; ++i) add(trace, 0, i * 10, i * 10 + 5);
  const TraceIndex index = build_index(trace);
  const Row& row = index.lanes[0].rows[0];
  CHECK(first_ending_after(trace, row, -1) == 0);
  CHECK(first_ending_after(trace, row, 4) == 0);
  CHECK(first_ending_after(trace, row, 5) == 1);
  CHECK(first_ending_after(trace, row, 94) == 9);
  CHECK(first_ending_after(trace, row, 95) == 10);
}
