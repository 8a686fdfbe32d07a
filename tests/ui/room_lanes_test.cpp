// Which few lanes a room sees of a lesson's runs, without a window.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "ui/app/lesson/present.h"
#include "ui/app/workspace/workspace.h"

using namespace trainscope;
using namespace trainscope::ui;
using trainscope::trace::LaneKind;

namespace {

// A lane of each kind with one span, on GPU 0.
std::shared_ptr<trace::Trace> trace_of(const std::vector<LaneKind>& kinds) {
  auto trace = std::make_shared<trace::Trace>(trace::Origin{});
  for (const LaneKind kind : kinds) {
    trace::Lane lane;
    lane.kind = kind;
    lane.name = "lane " + std::to_string(trace->lanes().size());
    lane.device = 0;
    trace::Span span;
    span.lane = trace->add_lane(lane);
    span.duration = 10;
    trace->add_span(span);
  }
  return trace;
}

}  // namespace

TEST_CASE("no lesson shows a room more than three lanes a side, and each of them has spans") {
  Workspace workspace([] {});
  REQUIRE(!workspace.shelf.lessons().empty());
  for (const scenario::Lesson& lesson : workspace.shelf.lessons()) {
    CAPTURE(lesson.id);
    trace::Trace trace{trace::Origin{}};
    for (const trace::LaneKind kind :
         {trace::LaneKind::kSteps, trace::LaneKind::kHostThread, trace::LaneKind::kStream,
          trace::LaneKind::kStream, trace::LaneKind::kCopyEngine, trace::LaneKind::kMemory}) {
      trace::Lane lane;
      lane.kind = kind;
      lane.name = "lane " + std::to_string(trace.lanes().size());
      trace::Span span;
      span.lane = trace.add_lane(lane);
      span.duration = 10;
      if (trace.lanes().size() != 3) trace.add_span(span);
    }
    const trace::TraceIndex index = trace::build_index(trace);
    const auto none = trace::kNone;
    CHECK(lanes_for_a_room({{{&trace, &index}, {}}}, lesson) ==
          std::vector<RoomLanes>{{1, none}, {3, none}, {4, none}});
    CHECK(lanes_for_a_room({{{&trace, &index}, {&trace, &index}}}, lesson) ==
          std::vector<RoomLanes>{{1, 1}, {3, 3}, {4, 4}});
  }
}

TEST_CASE("a room sees a lane of the same kind on both sides at once") {
  const auto a = trace_of({LaneKind::kCopyEngine, LaneKind::kStream, LaneKind::kStream});
  const auto b = trace_of({LaneKind::kStaging, LaneKind::kStream, LaneKind::kStream,
                           LaneKind::kStream, LaneKind::kCopyEngine});
  const trace::TraceIndex index_a = trace::build_index(*a), index_b = trace::build_index(*b);
  CHECK(lanes_for_a_room({{{a.get(), &index_a}, {b.get(), &index_b}}}, scenario::Lesson{}) ==
        std::vector<RoomLanes>{{0, 4}, {1, 1}, {2, 2}});
}

TEST_CASE("a room sees the copy engine beside staging, and of many ranks those that tell") {
  const auto pageable = trace_of(
      {LaneKind::kHostThread, LaneKind::kStaging, LaneKind::kStream, LaneKind::kCopyEngine});
  const auto pinned = trace_of({LaneKind::kHostThread, LaneKind::kCopyEngine, LaneKind::kStream});
  const trace::TraceIndex of_pageable = trace::build_index(*pageable),
                          of_pinned = trace::build_index(*pinned);
  scenario::Lesson lesson;
  lesson.steps.emplace_back();
  lesson.steps.back().focus.emplace();
  lesson.steps.back().focus->lane = "lane 1";
  const auto lanes =
      lanes_for_a_room({{{pageable.get(), &of_pageable}, {pinned.get(), &of_pinned}}}, lesson);
  CHECK(std::ranges::any_of(lanes, [](const RoomLanes& one) { return one[0] == 3; }));
  CHECK(std::ranges::any_of(lanes, [](const RoomLanes& one) { return one[1] == 1; }));

  trace::Trace ranks{trace::Origin{}};
  for (int rank = 0; rank < 4; ++rank) {
    trace::Lane lane;
    lane.kind = LaneKind::kStream;
    lane.rank = rank;
    trace::Span span;
    span.lane = ranks.add_lane(lane);
    span.duration = 10;
    ranks.add_span(span);
  }
  const trace::TraceIndex index = trace::build_index(ranks);
  CHECK(lanes_for_a_room({{{&ranks, &index, {0, 3}}, {}}}, scenario::Lesson{}) ==
        std::vector<RoomLanes>{{0, trace::kNone}, {3, trace::kNone}});
}

TEST_CASE("a room sees what went wrong on a device before lanes that only fill the place") {
  const auto well = trace_of({LaneKind::kStream, LaneKind::kStream, LaneKind::kStream});
  const auto ill =
      trace_of({LaneKind::kStream, LaneKind::kStream, LaneKind::kStream, LaneKind::kOther});
  const trace::TraceIndex index_well = trace::build_index(*well), index = trace::build_index(*ill);
  CHECK(lanes_for_a_room({{{well.get(), &index_well}, {ill.get(), &index}}}, scenario::Lesson{}) ==
        std::vector<RoomLanes>{{0, 0}, {1, 1}, {2, 3}});
  scenario::Lesson lesson;
  for (const char* name : {"lane 0", "lane 1", "lane 2"}) {
    lesson.steps.emplace_back();
    lesson.steps.back().focus.emplace();
    lesson.steps.back().focus->lane = name;
  }
  CHECK(lanes_for_a_room({{{well.get(), &index_well}, {ill.get(), &index}}}, lesson) ==
        std::vector<RoomLanes>{{0, 0}, {1, 1}, {2, 3}});
}

TEST_CASE("a room sees the lane that a lesson names, and the other side's beside one of its kind") {
  const auto of = [](const std::vector<std::pair<LaneKind, const char*>>& lanes) {
    auto trace = std::make_shared<trace::Trace>(trace::Origin{});
    for (const auto& [kind, name] : lanes) {
      trace::Lane lane;
      lane.kind = kind;
      lane.name = name;
      lane.device = 0;
      trace::Span span;
      span.lane = trace->add_lane(lane);
      span.duration = 10;
      trace->add_span(span);
    }
    return trace;
  };
  const auto a = of({{LaneKind::kHostThread, "host main"},
                     {LaneKind::kHostThread, "autograd thread"},
                     {LaneKind::kCopyEngine, "H2D copy engine"},
                     {LaneKind::kStream, "stream 7"},
                     {LaneKind::kStream, "stream 24"}});
  const auto b = of({{LaneKind::kHostThread, "host main"},
                     {LaneKind::kHostThread, "autograd thread"},
                     {LaneKind::kCopyEngine, "H2D copy engine"},
                     {LaneKind::kStream, "stream 7"},
                     {LaneKind::kStream, "stream 24"},
                     {LaneKind::kStream, "stream 28"}});
  const trace::TraceIndex index_a = trace::build_index(*a), index_b = trace::build_index(*b);
  const RoomSides sides{{{a.get(), &index_a}, {b.get(), &index_b}}};
  const auto shown = [&](const scenario::Lesson& lesson, std::size_t side) {
    std::vector<trace::LaneId> lanes;
    for (const RoomLanes& one : lanes_for_a_room(sides, lesson)) lanes.push_back(one[side]);
    std::ranges::sort(lanes);
    return lanes;
  };
  scenario::Lesson pointing;
  for (const char* name : {"stream 28", "stream 24"}) {
    pointing.steps.emplace_back();
    pointing.steps.back().focus.emplace();
    pointing.steps.back().focus->lane = name;
  }
  // The kernels of B are beside its two streams of sums: what A has instead of one takes no place.
  CHECK(shown(pointing, 1) == std::vector<trace::LaneId>{3, 4, 5});
  CHECK(shown(pointing, 0) == std::vector<trace::LaneId>{2, 3, 4});

  scenario::Lesson speaking;
  speaking.steps.emplace_back();
  speaking.steps.back().text =
      "Above *stream 7* are *host main* and *autograd\nthread*, **hatched**.";
  for (std::size_t side = 0; side < 2; ++side)
    CHECK(shown(speaking, side) == std::vector<trace::LaneId>{0, 1, 3});
}
