#include "report/bars.h"

#include <catch2/catch.hpp>

#include "report/runs.h"

using namespace trainscope;

namespace {

std::uint64_t spans_in(const report::Bars& bars) {
  std::uint64_t count = 0;
  for (const report::LaneBars& lane : bars.lanes)
    for (const report::BarRow& row : lane.rows)
      for (const report::Bar& bar : row) count += bar.count;
  return count;
}

bool in_order(const report::Bars& bars) {
  for (const report::LaneBars& lane : bars.lanes)
    for (const report::BarRow& row : lane.rows)
      for (std::size_t i = 1; i < row.size(); ++i)
        if (row[i].start < row[i - 1].end) return false;
  return true;
}

// Spans of all lengths, nested and overlapping.
std::shared_ptr<trace::Trace> mixed(int count) {
  auto trace = test::empty_trace();
  const auto one = test::add_stream(*trace, "one"), two = test::add_stream(*trace, "two");
  std::uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    test::add_kernel(*trace, state & 256U ? one : two, "kernel", i * 50 - 1000,
                     state % (i % 7 == 0 ? 4000U : 90U));
  }
  return trace;
}

}  // namespace

TEST_CASE("without a cell every span is a bar of its own") {
  const auto trace = mixed(500);
  const auto index = trace::build_index(*trace);
  const report::Bars bars = report::fold(*trace, index, 0, 100);
  CHECK(bars.count == 500);
  CHECK(spans_in(bars) == 500);
}

TEST_CASE("folding keeps every span in exactly one bar, and bars of a row apart") {
  const auto trace = mixed(3000);
  const auto index = trace::build_index(*trace);
  for (const Nanos cell : {1, 10, 100, 1000, 100000, 10000000}) {
    CAPTURE(cell);
    const report::Bars bars = report::fold(*trace, index, cell, 6);
    CHECK(spans_in(bars) == 3000);
    CHECK(in_order(bars));
  }
}

TEST_CASE("a trace that is too large is folded to the number of bars asked for") {
  const auto trace = mixed(20000);
  const auto index = trace::build_index(*trace);
  const report::Bars bars = report::fold_to(*trace, index, 1000, 6);
  CHECK(bars.count <= 1000);
  CHECK(bars.count > 100);
  CHECK(bars.cell > 0);
  CHECK(spans_in(bars) == 20000);
}

TEST_CASE("a fold knows its own time and the category that takes most of it") {
  auto trace = test::empty_trace();
  const auto lane = test::add_stream(*trace, "stream 7");
  test::add_kernel(*trace, lane, "a", 0, 10);
  trace::Span span;
  span.start = 20;
  span.duration = 30;
  span.lane = lane;
  span.category = trace::Category::kCopyH2D;
  trace->add_span(span);
  const report::Bars bars = report::fold(*trace, trace::build_index(*trace), 1000, 4);
  REQUIRE(bars.count == 1);
  const report::Bar& bar = bars.lanes[0].rows[0][0];
  CHECK(bar.count == 2);
  CHECK(bar.busy == 40);
  CHECK(bar.end == 50);
  CHECK(bar.category == trace::Category::kCopyH2D);
}

TEST_CASE("rows beyond the most are folded into the last one, and counted") {
  auto trace = test::empty_trace();
  const auto lane = test::add_stream(*trace, "deep");
  for (int depth = 0; depth < 10; ++depth)
    test::add_kernel(*trace, lane, "level", depth, 1000 - 2 * depth);
  const report::Bars bars = report::fold(*trace, trace::build_index(*trace), 0, 4);
  REQUIRE(bars.lanes.size() == 1);
  CHECK(bars.lanes[0].rows.size() == 4);
  CHECK(bars.lanes[0].rows_merged == 7);
  CHECK(spans_in(bars) == 10);
}

TEST_CASE("an empty trace has no bars, and lanes without anything are left out") {
  auto trace = test::empty_trace();
  test::add_stream(*trace, "unused");
  const auto counter = trace->add_lane({"queue", trace::LaneKind::kCounter, 0, 0, 1, 1, ""});
  trace->add_sample({5, 1.0, counter});
  const report::Bars bars = report::fold_to(*trace, trace::build_index(*trace), 10, 4);
  CHECK(bars.count == 0);
  REQUIRE(bars.lanes.size() == 1);
  CHECK(bars.lanes[0].lane == counter);
}
