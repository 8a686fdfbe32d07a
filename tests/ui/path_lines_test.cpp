// What a critical path is drawn with: lines along spans and lanes, and arrows between lanes.
#include <catch2/catch.hpp>
#include <set>

#include "analysis/steps/intervals.h"
#include "support/skip.h"
#include "support/traces.h"
#include "ui/app/views/path_view.h"
#include "ui/runs.h"
#include "ui/timeline/layout.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

// Nothing of its time is left out: it is on a span, at rest on a lane, or on its way to another.
void check_has_no_hole(const RunPointer& run) {
  const auto facts = find_path(run, index_trace(run->trace), [] { return false; });
  std::vector<analysis::Interval> drawn;
  for (const Chain::Stay& stay : facts->chain.stays) drawn.push_back({stay.start, stay.end});
  for (const Chain::Rest& rest : facts->chain.rests) drawn.push_back({rest.start, rest.end});
  for (const Link& hop : facts->chain.hops) drawn.push_back({*hop.left, *hop.passed});
  const analysis::Interval whole{facts->path.pieces.front().start, facts->path.pieces.back().end};
  CHECK(analysis::IntervalSet(drawn).length_within(whole) == whole.end - whole.start);
  for (const Chain::Rest& rest : facts->chain.rests) CHECK(facts->chain.runs_on(rest.lane));
  for (const Chain::Stay& stay : facts->chain.stays) CHECK(stay.span < run->trace->spans().size());
}

// Two lanes with a span each, over the whole of 1000 ns.
struct TwoLanes {
  Trace trace{Origin{}};
  TraceIndex index;
  DrawIndex draw;

  TwoLanes() {
    for (const char* name : {"host main", "stream 7"}) {
      Lane lane;
      lane.name = name;
      Span span;
      span.lane = trace.add_lane(lane);
      span.duration = 1000;
      span.category = Category::kKernel;
      span.name = trace.intern("work");
      trace.add_span(span);
    }
    index = build_index(trace);
    draw = build_draw_index(trace, index);
  }
  TimelineLayout lay_out(const Chain& chain) const {
    LayoutRequest request;
    request.view_end = 1000;
    request.width = 1000;
    request.links = chain.hops;
    request.rests = chain.rests;
    return ui::lay_out(trace, index, draw, request);
  }
};

// To and fro between the two lanes, first down, at these times.
Chain to_and_fro(const std::vector<Nanos>& times) {
  Chain chain;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const LaneId from = i % 2 == 0 ? 0 : 1, to = 1 - from;
    chain.hops.push_back({from, to, true, times[i], times[i], from, to});
  }
  return chain;
}

}  // namespace

TEST_CASE("a critical path is drawn without a hole") {
  check_has_no_hole(run_of("A", {"workload=train", "steps=4", "loader.num_workers=2"}));
  check_has_no_hole(run_of("A", {"workload=train", "steps=4", "device=cpu"}));
  check_has_no_hole(run_of("A", {"workload=train", "steps=3", "parallel.strategy=ddp",
                                 "parallel.world_size=2", "machine=h100-sxm-8"}));
}

TEST_CASE(
    "a recording of a CPU whose spans tell nothing shows a path along the thread of its steps") {
  if (!test::real_traces_present()) TRAINSCOPE_SKIP("no recorded traces");
  const auto run = std::make_shared<analysis::Run>(
      analysis::import_run("A", test::real_traces_folder() / "cpu-only.json.gz"));
  check_has_no_hole(run);
  const auto facts = find_path(run, index_trace(run->trace), [] { return false; });
  REQUIRE_FALSE(facts->chain.rests.empty());
  const LaneId lane = facts->chain.rests.front().lane;
  CHECK(run->trace->lanes()[lane].kind == LaneKind::kHostThread);
}

TEST_CASE("where a path rests on a lane a line goes on, one of rests that no eye tells apart") {
  const TwoLanes made;
  Chain chain;
  chain.rests = {{0, 100, 200}, {1, 200, 300}, {1, 300, 400}, {1, 450, 5000}};
  const TimelineLayout layout = made.lay_out(chain);
  REQUIRE(layout.rests.size() == 3);
  CHECK(layout.rests[0].x == Approx(100));
  CHECK(layout.rests[0].width == Approx(100));
  CHECK(layout.rests[0].y == layout.bars[0].y);
  CHECK(layout.rests[1].lane == 1);
  CHECK(layout.rests[1].width == Approx(200));
  CHECK(layout.rests[1].y == layout.bars[1].y);
  CHECK(layout.rests[2].x + layout.rests[2].width < 1010);
}

TEST_CASE("an arrow of a path begins and ends on a lane where there is no span") {
  const TwoLanes made;
  Chain chain;
  chain.hops.push_back({kNone, kNone, true, 500, 400, 0, 1});
  const TimelineLayout layout = made.lay_out(chain);
  REQUIRE(layout.arrows.size() == 1);
  CHECK(layout.arrows[0].x0 == Approx(400));
  CHECK(layout.arrows[0].x1 == Approx(500));
  CHECK(layout.arrows[0].y0 < layout.arrows[0].y1);
}

TEST_CASE("arrows there and back at once stand apart, the earlier one to the left") {
  const TimelineLayout layout = TwoLanes().lay_out(to_and_fro({500, 501}));
  REQUIRE(layout.arrows.size() == 2);
  const Arrow &there = layout.arrows[0], &back = layout.arrows[1];
  CHECK(back.x1 + back.aside - there.x1 - there.aside == Approx(10));
  CHECK(there.aside < 0);
  CHECK(back.aside > 0);
  CHECK_FALSE(there.passing);
  CHECK_FALSE(back.passing);
}

TEST_CASE("arrows that have room stand where the path passes") {
  const TimelineLayout layout = TwoLanes().lay_out(to_and_fro({100, 120, 500}));
  REQUIRE(layout.arrows.size() == 3);
  for (const Arrow& arrow : layout.arrows) {
    CHECK(arrow.aside == 0);
    CHECK_FALSE(arrow.passing);
  }
}

TEST_CASE("of many arrows to and fro one each way has a head") {
  const TimelineLayout layout =
      TwoLanes().lay_out(to_and_fro({500, 503, 506, 509, 512, 515, 518, 521, 700}));
  REQUIRE(layout.arrows.size() == 9);
  std::set<std::size_t> heads;
  for (std::size_t i = 0; i < layout.arrows.size(); ++i)
    if (!layout.arrows[i].passing) heads.insert(i);
  CHECK(heads == std::set<std::size_t>{0, 7, 8});
}
