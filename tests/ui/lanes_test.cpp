// Lanes that are pinned or hidden, and what a fold consists of, without a window.
#include <catch2/catch.hpp>
#include <random>

#include "ui/timeline/lane_filter.h"
#include "ui/timeline/layout.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

LaneId add_lane(Trace& trace, const std::string& name, const std::string& group = "") {
  Lane lane;
  lane.name = name;
  lane.group = group;
  return trace.add_lane(lane);
}

void add_span(Trace& trace, LaneId lane, Nanos start, Nanos duration,
              Category category = Category::kKernel) {
  Span span;
  span.lane = lane;
  span.start = start;
  span.duration = duration;
  span.category = category;
  span.name = trace.intern("work");
  trace.add_span(span);
}

struct Laid {
  Trace trace{Origin{}};
  TraceIndex index;
  DrawIndex draw;

  TimelineLayout lay_out(LayoutRequest request) {
    index = build_index(trace);
    draw = build_draw_index(trace, index);
    return ui::lay_out(trace, index, draw, request);
  }
};

std::vector<std::string> names(const Trace& trace, const TimelineLayout& layout) {
  std::vector<std::string> list;
  for (const LaneBox& lane : layout.lanes) list.push_back(trace.lanes()[lane.lane].name);
  return list;
}

}  // namespace

TEST_CASE("pinned lanes stand first, stay where they are put, and are hit before what lies below") {
  Laid laid;
  for (const char* name : {"a", "b", "c"}) add_lane(laid.trace, name);
  for (LaneId lane = 0; lane < 3; ++lane) add_span(laid.trace, lane, 0, 100);
  LayoutRequest request;
  request.view_end = 100;
  request.width = 100;
  request.pinned = {2};
  TimelineLayout layout = laid.lay_out(request);
  CHECK(names(laid.trace, layout) == std::vector<std::string>{"c", "a", "b"});
  CHECK(layout.lanes[0].pinned);
  CHECK(layout.lanes[0].y == 0);
  CHECK(layout.pinned_bottom == layout.lanes[1].y);
  const float height = layout.height;
  // Scrolled by one lane: the pinned one lies upon what has gone up.
  request.stuck = request.lane_height;
  layout = laid.lay_out(request);
  CHECK(layout.height == height);
  CHECK(layout.lanes[0].y == layout.lanes[1].y);
  const Bar* bar = bar_at(layout, 50, layout.lanes[0].y + layout.lanes[0].height / 2);
  REQUIRE(bar);
  CHECK(bar->lane == 2);
}

TEST_CASE("a line below the lanes tells that some are hidden") {
  Laid laid;
  for (const char* name : {"a", "b", "c"}) add_lane(laid.trace, name);
  LayoutRequest request;
  request.view_end = 100;
  request.width = 100;
  CHECK_FALSE(laid.lay_out(request).footer);
  request.hidden = {1};
  request.filtered = 1;
  const TimelineLayout layout = laid.lay_out(request);
  CHECK(names(laid.trace, layout) == std::vector<std::string>{"a", "c"});
  REQUIRE(layout.footer);
  CHECK(*layout.footer == layout.lanes[1].y + layout.lanes[1].height);
  CHECK(layout.height == *layout.footer + request.group_height);
}

TEST_CASE("a lane filter knows lanes by heading and name, on any trace that has them") {
  Trace a{Origin{}}, b{Origin{}};
  add_lane(a, "stream 7", "GPU 0");
  add_lane(a, "stream 7", "GPU 1");
  add_lane(a, "host main");
  add_lane(b, "host main");
  add_lane(b, "stream 7", "GPU 1");
  LaneFilter filter;
  toggle_pin(filter, a.lanes()[1]);
  CHECK(lanes_with(a, filter.pinned) == std::vector<LaneId>{1});
  CHECK(lanes_with(b, filter.pinned) == std::vector<LaneId>{1});
  hide_others(filter, a, a.lanes()[2]);
  CHECK(lanes_with(a, filter.hidden) == std::vector<LaneId>{0});
  CHECK(lanes_with(b, filter.hidden).empty());
  hide(filter, a.lanes()[1]);
  CHECK(filter.pinned.empty());
  CHECK(lanes_with(b, filter.hidden) == std::vector<LaneId>{1});
  toggle_pin(filter, a.lanes()[2]);
  toggle_pin(filter, a.lanes()[2]);
  CHECK(filter.pinned.empty());
}

TEST_CASE("the times of a fold's categories are those of a plain sum") {
  std::mt19937 random(11);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  Laid laid;
  add_lane(laid.trace, "lane");
  Nanos time = 0;
  for (int i = 0; i < 5000; ++i) {
    const auto duration = static_cast<Nanos>(below(50));
    add_span(laid.trace, 0, time, duration, static_cast<Category>(below(kCategoryCount)));
    time += duration + static_cast<Nanos>(below(9));
  }
  LayoutRequest request;
  laid.lay_out(request);
  const DrawRow& row = laid.draw.rows[0][0];
  const auto plain = [&](std::size_t first, std::size_t count) {
    CategoryTimes times{};
    for (std::size_t at = first; at < first + count; ++at)
      times[static_cast<std::size_t>(row.categories[at])] += row.ends[at] - row.starts[at] + 1;
    return times;
  };
  for (int round = 0; round < 3000; ++round) {
    const std::size_t first = below(row.starts.size());
    const std::size_t count = 1 + below(std::min<std::size_t>(row.starts.size() - first, 1024));
    REQUIRE(times_of(row, first, count) == plain(first, count));
  }
  // Of more than that, all but the ends: less than two blocks in sum.
  const CategoryTimes all = times_of(row, 3, row.starts.size() - 7);
  const CategoryTimes exact = plain(3, row.starts.size() - 7);
  Nanos sum = 0, exact_sum = 0;
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    CHECK(all[kind] <= exact[kind]);
    sum += all[kind];
    exact_sum += exact[kind];
  }
  CHECK(exact_sum - sum <= 2 * static_cast<Nanos>(DrawRow::kBlock) * 50);
}

TEST_CASE("a fold says what it is a mixture of, the largest part first") {
  Laid laid;
  add_lane(laid.trace, "lane");
  for (Nanos i = 0; i < 960; ++i)
    add_span(laid.trace, 0, i * 10, 9, i % 3 == 0 ? Category::kCopyH2D : Category::kForward);
  LayoutRequest request;
  request.view_end = 9'600'000;
  request.width = 1000;
  const TimelineLayout layout = laid.lay_out(request);
  REQUIRE(layout.bars.size() == 1);
  const Bar& fold = layout.bars[0];
  CHECK(fold.count == 960);
  CHECK(fold.category == Category::kForward);
  CHECK(fold.mixture[0].parts == 170);
  CHECK(fold.mixture[1].category == Category::kCopyH2D);
  CHECK(fold.mixture[1].parts == 85);
  CHECK(fold.mixture[2].parts == 0);
}
