// Which edge a measurement snaps to, without a window.
#include "ui/timeline/measure.h"

#include <catch2/catch.hpp>
#include <random>

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

struct Laid {
  Trace trace{Origin{}};
  TraceIndex index;
  TimelineLayout layout;
};

void lay(Laid& laid, Nanos end) {
  laid.index = build_index(laid.trace);
  LayoutRequest request;
  request.view_end = end;
  request.width = 1000;
  laid.layout = lay_out(laid.trace, laid.index, build_draw_index(laid.trace, laid.index), request);
}

void add_span(Trace& trace, LaneId lane, Nanos start, Nanos duration) {
  Span span;
  span.lane = lane;
  span.start = start;
  span.duration = duration;
  span.name = trace.intern("work");
  trace.add_span(span);
}

}  // namespace

TEST_CASE("the nearest edge is the start or end of a span on the lane under the mouse") {
  Laid laid;
  laid.trace.add_lane({});
  laid.trace.add_lane({});
  add_span(laid.trace, 0, 100, 200);
  add_span(laid.trace, 1, 400, 100);
  lay(laid, 1000);
  const float first = laid.layout.lanes[0].y + 5, second = laid.layout.lanes[1].y + 5;
  const auto near = [&](float x, float y) {
    return nearest_edge(laid.index, laid.layout, x, y, 1000);
  };
  CHECK(near(190, first)->time == 100);
  CHECK_FALSE(near(190, first)->is_end);
  CHECK(near(210, first)->time == 300);
  CHECK(near(210, first)->is_end);
  CHECK(near(210, second)->time == 400);
  CHECK(near(210, second)->span == 1);
  CHECK_FALSE(near(210, 5000));
}

TEST_CASE("where one span ends as the next begins, the one under the mouse has the edge") {
  Laid laid;
  laid.trace.add_lane({});
  add_span(laid.trace, 0, 0, 500'000);
  add_span(laid.trace, 0, 500'000, 500'000);
  lay(laid, 1'000'000);
  const float y = laid.layout.lanes[0].y + 5;
  const auto before = nearest_edge(laid.index, laid.layout, 498, y, 1000);
  const auto after = nearest_edge(laid.index, laid.layout, 502, y, 1000);
  REQUIRE(before);
  REQUIRE(after);
  CHECK(before->span == 0);
  CHECK(before->is_end);
  CHECK(after->span == 1);
  CHECK_FALSE(after->is_end);
}

TEST_CASE("of a fold, the first span's start and the last one's end are edges") {
  Laid laid;
  laid.trace.add_lane({});
  for (Nanos i = 0; i < 1000; ++i) add_span(laid.trace, 0, 500'000 + i, 1);
  lay(laid, 1'000'000);
  const float y = laid.layout.lanes[0].y + 5;
  const auto start = nearest_edge(laid.index, laid.layout, 0, y, 1000);
  const auto end = nearest_edge(laid.index, laid.layout, 1000, y, 1000);
  REQUIRE(start);
  REQUIRE(end);
  CHECK(start->span == 0);
  CHECK(start->time == 500'000);
  CHECK(end->time == laid.trace.spans()[end->span].end());
  CHECK(end->time == 501'000);
}

TEST_CASE("two clicks measure, a third begins anew") {
  Measure measure;
  Edge a, b, c;
  a.time = 1'000'000;
  b.time = 3'500'000;
  c.time = 200;
  take_edge(measure, a);
  CHECK(measure.from == a);
  CHECK_FALSE(measure.to);
  take_edge(measure, b);
  CHECK(measure.to == b);
  CHECK(difference_words(*measure.from, *measure.to) == "+2.50 ms");
  CHECK(difference_words(*measure.to, *measure.from) == "-2.50 ms");
  take_edge(measure, c);
  CHECK(measure.from == c);
  CHECK_FALSE(measure.to);
}

TEST_CASE("whatever is drawn, an edge is that of a span") {
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<Nanos>(random() % static_cast<unsigned>(n)); };
  int edges = 0;
  for (int round = 0; round < 60; ++round) {
    Laid laid;
    for (int i = 0; i < 3; ++i) laid.trace.add_lane({});
    for (int i = 0; i < 300; ++i)
      add_span(laid.trace, static_cast<LaneId>(below(3)), below(100'000), below(4) * below(3000));
    lay(laid, 20'000 + below(90'000));
    for (int i = 0; i < 40; ++i) {
      const auto x = static_cast<float>(below(1000));
      const auto y = static_cast<float>(below(static_cast<int>(laid.layout.height)));
      const auto edge = nearest_edge(laid.index, laid.layout, x, y, 1000);
      if (!edge) continue;
      ++edges;
      const Span& span = laid.trace.spans()[edge->span];
      CHECK(span.lane == edge->lane);
      CHECK(edge->time == (edge->is_end ? span.end() : span.start));
    }
  }
  CHECK(edges > 60);
}
