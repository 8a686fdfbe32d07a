// The timeline in a window off screen, used with mouse and keys.
#include "ui/timeline/view.h"

#include <imgui.h>

#include <catch2/catch.hpp>
#include <map>

#include "ui/read_text.h"
#include "ui/stage.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

// The time at `x`: where a press on the axis puts the playhead.
Nanos time_at(Stage& stage, float x) {
  stage.point(x, 20);
  stage.press(true);
  const TimelineEvents events = stage.frame();
  stage.press(false);
  stage.frame();
  REQUIRE(events.playhead);
  return *events.playhead;
}

float x_of(Stage& stage, Nanos time) {
  const Nanos left = time_at(stage, 300), right = time_at(stage, 900);
  return 300 + 600 * static_cast<float>(time - left) / static_cast<float>(right - left);
}

Nanos width(const TimelineState& state) {
  return state.view.end - state.view.start;
}

constexpr float kFirstLane = 90;

}  // namespace

TEST_CASE("the window draws off screen and gives its picture") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  const Picture picture = stage->window.capture();
  REQUIRE(picture.width == 1000);
  REQUIRE(picture.height == 400);
  const Color forward = stage->theme.of(Category::kForward).fill;
  std::size_t blue = 0;
  for (std::size_t i = 0; i < picture.rgba.size(); i += 4)
    blue += picture.rgba[i] == forward.r && picture.rgba[i + 1] == forward.g &&
            picture.rgba[i + 2] == forward.b;
  CHECK(blue > 5000);
  CHECK(encode_png(picture).substr(1, 3) == "PNG");
}

TEST_CASE("a first look shows the whole run") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->frame();
  CHECK(stage->state.view.start == 0);
  CHECK(stage->state.view.end > recorded->trace.end());
}

TEST_CASE("a click selects the span under the mouse, and its links; a click beside clears it") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  const TimelineEvents events = stage->click(x_of(*stage, 35 * kMillisecond), kFirstLane);
  REQUIRE(events.selected);
  CHECK(*events.selected == SpanRef{Side::kA, 1});
  CHECK(stage->state.hovered.span == 1);
  stage->click(x_of(*stage, 5 * kMillisecond), kFirstLane);
  stage->frame();
  CHECK(stage->state.links.size() == 1);
  const TimelineEvents cleared = stage->click(x_of(*stage, 20 * kMillisecond), kFirstLane);
  REQUIRE(cleared.selected);
  CHECK(cleared.selected->span == kNone);
}

TEST_CASE("the wheel zooms at the cursor: what is under it stays there") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  const Nanos before = width(stage->state);
  const float x = x_of(*stage, 30 * kMillisecond);
  stage->point(x, kFirstLane);
  for (int i = 0; i < 3; ++i) {
    ImGui::GetIO().AddMouseWheelEvent(0, 1);
    stage->frame();
  }
  stage->settle();
  CHECK(static_cast<double>(width(stage->state)) ==
        Approx(static_cast<double>(before) / 1.953).epsilon(0.01));
  CHECK(x_of(*stage, 30 * kMillisecond) == Approx(x).margin(1));
  CHECK(!stage->state.fitted);
}

TEST_CASE("dragging pans, and a drag is no click") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  const float from = x_of(*stage, 35 * kMillisecond);
  const TimelineEvents events = stage->drag({from, kFirstLane}, {from - 200, kFirstLane});
  CHECK(!events.selected);
  CHECK(x_of(*stage, 35 * kMillisecond) == Approx(from - 200).margin(1));
}

TEST_CASE("shift-drag measures a range") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  const float left = x_of(*stage, 10 * kMillisecond), right = x_of(*stage, 30 * kMillisecond);
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, true);
  const TimelineEvents events = stage->drag({right, kFirstLane}, {left, kFirstLane});
  ImGui::GetIO().AddKeyEvent(ImGuiMod_Shift, false);
  REQUIRE(events.range);
  CHECK(static_cast<double>(events.range->start) == Approx(10e6).margin(2e5));
  CHECK(static_cast<double>(events.range->end) == Approx(30e6).margin(2e5));
}

TEST_CASE("keys zoom, pan and fit") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  stage->point(500, kFirstLane);
  const TimeRange whole = stage->state.view;
  stage->key(ImGuiKey_Equal);
  CHECK(width(stage->state) < whole.end - whole.start);
  const Nanos start = stage->state.view.start;
  stage->key(ImGuiKey_RightArrow);
  CHECK(stage->state.view.start > start);
  stage->key(ImGuiKey_F);
  CHECK(stage->state.view == whole);
}

TEST_CASE("a fitted view follows a run that becomes shorter, a zoomed one stays") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  stage->input.axis_end = 20 * kMillisecond;
  stage->settle();
  CHECK(stage->state.view.end == 21 * kMillisecond);
  zoom(stage->state, 0.5, 10 * kMillisecond);
  stage->settle();
  const TimeRange zoomed = stage->state.view;
  stage->input.axis_end = 70 * kMillisecond;
  stage->settle();
  CHECK(stage->state.view == zoomed);
}

TEST_CASE("two sides share the axis, and each answers for itself") {
  REQUIRE_STAGE(stage);
  const auto a = three_spans(), b = three_spans();
  stage->input.sides = {side_of(*a), side_of(*b)};
  stage->input.sides[1].offset = 20 * kMillisecond;
  stage->settle();
  CHECK(stage->state.view.end > 90 * kMillisecond);
  const float x = x_of(*stage, 52 * kMillisecond);  // the second span of B, none of A
  Side found = Side::kA;
  for (float y = 60; y < 390; y += 8) {
    stage->point(x, y);
    if (stage->state.hovered.span == kNone) continue;
    found = stage->state.hovered.side;
    CHECK(stage->state.hovered.span == 1);
  }
  CHECK(found == Side::kB);
}

TEST_CASE("lanes that do not fit scroll, and stop at their end") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans(40);
  stage->input.sides = {side_of(*recorded)};
  stage->settle();
  stage->point(30, 200);  // over the lanes' names the wheel scrolls
  for (int i = 0; i < 60; ++i) {
    ImGui::GetIO().AddMouseWheelEvent(0, -1);
    stage->frame();
  }
  const float end = stage->state.scroll;
  CHECK(end > 300);
  CHECK(end < 40 * stage->theme.size.lane);
  const TimelineEvents events = stage->click(x_of(*stage, 65 * kMillisecond), 385);
  REQUIRE(events.selected);
  CHECK(recorded->trace.spans()[events.selected->span].lane == 39);
}

TEST_CASE("before a run the timeline has lanes, no spans and nothing to click") {
  REQUIRE_STAGE(stage);
  TimelineSide side;
  side.lane_names = {"host main", "stream 7"};
  stage->input.sides = {side, side};
  stage->input.empty_text = "Predict first.";
  stage->settle();
  CHECK(!stage->click(500, kFirstLane).selected);
  stage->input.sides[0].progress = "running: step 1 of 3";
  stage->settle();
  CHECK(stage->state.view.end > 0);
}

TEST_CASE("a narrow or flat place draws nothing and does not fail") {
  REQUIRE_STAGE(stage);
  const auto recorded = three_spans();
  TimelineInput input;
  input.sides = {side_of(*recorded)};
  for (const ImVec2 size : {ImVec2(1, 1), ImVec2(210, 90), ImVec2(1000, 70)}) {
    stage->window.begin_frame();
    ImGui::Begin("small");
    TimelineState state;
    draw_timeline("timeline", stage->theme, input, state, size);
    ImGui::End();
    stage->window.end_frame();
  }
}

TEST_CASE("a hover card tells of a copy its size, bandwidth and cause") {
  Trace trace{Origin{OriginKind::kSimulated, "test", ""}};
  trace.add_lane(Lane{});
  Span span;
  span.name = trace.intern("Memcpy HtoD (Pageable -> Device)");
  span.category = Category::kCopyH2D;
  span.duration = kMillisecond;
  span.cause = Cause::kStaging;
  span.line = 5;
  span.detail = trace.add_detail(CopyDetail{16 << 20, Memory::kPageable, Memory::kDevice, 0, 7});
  std::map<std::string, std::string> rows;
  for (const auto& [key, value] : describe_span(trace, trace.add_span(span))) rows[key] = value;
  CHECK(rows["size"] == "16 MiB");
  CHECK(rows["bandwidth"] == "16.8 GB/s");
  CHECK(rows["memory"] == "Pageable to Device");
  CHECK(rows["began after"] == "the staging copy");
  CHECK(rows["listing"] == "line 5");
  span.category = Category::kHeld;
  rows.clear();
  for (const auto& [key, value] : describe_span(trace, trace.add_span(span))) rows[key] = value;
  CHECK(rows["waited for"] == "the staging copy");
  CHECK(!rows.contains("began after"));
}

namespace {

// A share that goes up to 81.2 and back, over and over, or once.
std::unique_ptr<Recorded> a_share(const char* name, bool often) {
  auto recorded = three_spans();
  trace::Lane lane;
  lane.name = name;
  lane.kind = trace::LaneKind::kCounter;
  const trace::LaneId id = recorded->trace.add_lane(lane);
  for (Nanos time = 0; time < 70; time += often ? 1 : 60) {
    recorded->trace.add_sample({time * kMillisecond, 81.2, id});
    if (often) recorded->trace.add_sample({time * kMillisecond + kMillisecond / 2, 0, id});
  }
  recorded->index = trace::build_index(recorded->trace);
  recorded->draw = build_draw_index(recorded->trace, recorded->index);
  return recorded;
}

}  // namespace

TEST_CASE(
    "how far a counter goes stands beside its name, and nowhere where it would hide the line") {
  REQUIRE_STAGE(stage);
  const auto words = [&](const Recorded& recorded) {
    stage->input.sides = {side_of(recorded)};
    stage->settle();
    return written(*ImGui::GetDrawData());
  };
  CHECK_THAT(words(*a_share("in, %", true)), Catch::Contains("in,%81.2of100"));
  CHECK_THAT(words(*a_share("GPU 0: link in, %", true)),
             Catch::Contains("linkin,%81.2") && !Catch::Contains("of100"));
  const char* longer = "GPU 0: link to the next node, %";
  CHECK_THAT(words(*a_share(longer, true)), !Catch::Contains("81.2"));
  CHECK_THAT(words(*a_share(longer, false)), Catch::Contains("81.2of100"));
}
