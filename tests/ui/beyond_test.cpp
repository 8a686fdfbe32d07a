// What goes on past what is in sight: a wait without an end, and lanes below the last one.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/units.h"
#include "trace/labels.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/stage.h"
#include "ui/timeline/canvas.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::trace;
using namespace trainscope::ui;

namespace {

struct Stuck {
  Recorded recorded;
  SpanId wait = 0, other = 0;
};

// A wait from 10 to 12 ms whose end is none, and beside it one of the same kind that has an end.
std::unique_ptr<Stuck> stuck() {
  auto made = std::make_unique<Stuck>();
  Trace& trace = made->recorded.trace;
  const auto add = [&](const char* lane, std::string_view name) {
    Lane in;
    in.name = lane;
    Span span;
    span.lane = trace.add_lane(in);
    span.start = 10 * kMillisecond;
    span.duration = 2 * kMillisecond;
    span.category = Category::kSync;
    span.name = trace.intern(name);
    return trace.add_span(span);
  };
  made->wait = add("stream 24", kEndlessWait);
  made->other = add("stream 25", "waits for rank 1");
  made->recorded.index = build_index(trace);
  made->recorded.draw = build_draw_index(trace, made->recorded.index);
  return made;
}

}  // namespace

TEST_CASE("a wait without an end reaches to the right end of what is in view") {
  const auto made = stuck();
  LayoutRequest request;
  request.view_end = 20 * kMillisecond;
  request.width = 1000;
  request.text_width = [](std::string_view words) { return 8 * static_cast<float>(words.size()); };
  const TimelineLayout layout =
      lay_out(made->recorded.trace, made->recorded.index, made->recorded.draw, request);
  REQUIRE(layout.bars.size() == 2);
  for (const Bar& bar : layout.bars) {
    CHECK(bar.x == Approx(500));
    CHECK(bar.endless == (bar.span == made->wait));
    if (bar.span == made->other) CHECK(bar.width == Approx(100));
    if (bar.span == made->wait) {
      CHECK(bar.x + bar.width >= request.width);
      CHECK(bar.label == "waits for a rank that does not come, never ends");
    }
  }
  const Bar* far_right = bar_at(layout, 990, layout.bars[0].y + 5);
  REQUIRE(far_right);
  CHECK(far_right->span == made->wait);
}

TEST_CASE("the card of a wait without an end names no duration") {
  const auto made = stuck();
  const auto duration_of = [&](SpanId span) {
    for (const auto& [key, value] : describe_span(made->recorded.trace, span))
      if (key == "duration") return value;
    return std::string();
  };
  CHECK(duration_of(made->wait) == "never ends");
  CHECK(duration_of(made->other) == format_nanos(2e6));
}

TEST_CASE("lanes that do not fit are said to be below, until the last is in sight") {
  REQUIRE_STAGE(stage);
  const auto many = three_spans(40);
  stage->input.sides = {side_of(*many)};
  stage->settle();
  CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  const std::size_t above = letters(*ImGui::GetDrawData());
  stage->state.scroll = 1e6F;
  stage->settle();
  CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  CHECK(letters(*ImGui::GetDrawData()) != above);
}

namespace {

// How many letters stand in a box, and how many are cut through by its upper or lower edge.
struct Letters {
  int inside = 0, cut = 0;
};

Letters letters_in(const ImDrawData& data, ImVec2 min, ImVec2 max) {
  Letters found;
  for (const ImDrawList* list : data.CmdLists)
    for (const ImDrawCmd& command : list->CmdBuffer)
      for (unsigned at = 0; at + 6 <= command.ElemCount; at += 3) {
        const auto quad = cut_text_detail::quad_of(*list, command, at);
        const ImVec4& clip = command.ClipRect;
        if (!quad.is_letter || quad.min.x < min.x || quad.max.x > max.x) continue;
        const bool is_seen = quad.max.y > clip.y && quad.min.y < clip.w;
        if (is_seen && quad.min.y >= min.y && quad.max.y <= max.y) ++found.inside;
        if (is_seen && (quad.max.y > clip.w + 1.5F || quad.min.y < clip.y - 1.5F)) ++found.cut;
      }
  return found;
}

// Lanes that count, up to 100 each.
std::unique_ptr<Recorded> counters(int lanes) {
  auto made = std::make_unique<Recorded>();
  for (int i = 0; i < lanes; ++i) {
    Lane lane;
    lane.name = "counter " + std::to_string(i);
    lane.kind = LaneKind::kCounter;
    const LaneId id = made->trace.add_lane(lane);
    for (const Nanos time : {0, 30, 60})
      made->trace.add_sample({time * kMillisecond, static_cast<double>(time), id});
  }
  made->index = build_index(made->trace);
  made->draw = build_draw_index(made->trace, made->index);
  return made;
}

}  // namespace

TEST_CASE("how many lanes are below is said however far one has scrolled") {
  REQUIRE_STAGE(stage);
  const auto many = three_spans(40);
  stage->input.sides = {side_of(*many)};
  for (float scroll = 0; scroll < 2 * stage->theme.size.lane_min; scroll += 3) {
    CAPTURE(scroll);
    stage->state.scroll = scroll;
    stage->settle();
    const float row = below_row(stage->theme, 300, 100);
    REQUIRE(row > 0);
    CHECK(letters_in(*ImGui::GetDrawData(), {0, 399 - row}, {150, 401}).inside >= 10);
    CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  }
}

TEST_CASE("the name of a lane that is cut stands whole in what is in sight of it, or nowhere") {
  REQUIRE_STAGE(stage);
  const auto many = three_spans(40);
  stage->input.sides = {side_of(*many)};
  for (float scroll = 0; scroll < 2 * stage->theme.size.lane_min; scroll += 3) {
    CAPTURE(scroll);
    stage->state.scroll = scroll;
    stage->settle();
    CHECK(letters_in(*ImGui::GetDrawData(), {0, 60}, {150, 400}).cut == 0);
    CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  }
}

TEST_CASE("a lane that is brought into sight leaves none cut above it") {
  REQUIRE_STAGE(stage);
  const auto many = three_spans(40);
  stage->input.sides = {side_of(*many)};
  stage->settle();
  for (const LaneId lane : {20U, 25U, 30U}) {
    CAPTURE(lane);
    stage->state.scroll = 0;
    stage->state.reveal_lane = {Side::kA, lane};
    stage->settle();
    const float tall = stage->theme.size.lane_min;
    CHECK(stage->state.scroll > 0);
    CHECK(stage->state.scroll <= static_cast<float>(lane) * tall);  // it is in sight
    CHECK(std::fmod(stage->state.scroll, tall) == Approx(0).margin(0.01));
  }
}

TEST_CASE("lanes that all fit, and a place for few, have no row about lanes below") {
  const Theme theme = make_theme(ThemeMode::kDark, 1);
  CHECK(below_row(theme, 300, 0) == 0);
  CHECK(below_row(theme, 300, 30) > theme.size.label);
  CHECK(below_row(theme, 3 * theme.size.lane_min, 30) == 0);
}

TEST_CASE("a counter's scale is whole or not there") {
  REQUIRE_STAGE(stage);
  const auto many = counters(30);
  stage->input.sides = {side_of(*many)};
  for (float scroll = 0; scroll < 2 * stage->theme.size.lane_min; scroll += 3) {
    CAPTURE(scroll);
    stage->state.scroll = scroll;
    stage->settle();
    CHECK(letters_in(*ImGui::GetDrawData(), {0, 80}, {1000, 400}).inside > 0);
    CHECK(letters_in(*ImGui::GetDrawData(), {0, 80}, {1000, 400}).cut == 0);
  }
}

TEST_CASE("the words of a marker do not stand over a lane's scale") {
  REQUIRE_STAGE(stage);
  const auto few = counters(3);
  for (const bool has_room : {true, false}) {
    stage->input.sides = {side_of(*few)};
    TimelineSide& side = stage->input.sides[0];
    side.markers.push_back({54 * kMillisecond, "B done", "2.2 ms sooner"});
    if (!has_room) side.config = std::string(200, 'x');
    stage->input.axis_end = 60 * kMillisecond;
    stage->settle();
    CHECK(letters(*ImGui::GetDrawData()) > 30);
    CHECK(overlapping_text(*ImGui::GetDrawData()).empty());
  }
}

TEST_CASE("in front of a room the words about a deadlock are whole") {
  REQUIRE_DRIVER(driver, 1600, 1000);
  walk_to_result(*driver, "ddp-deadlock");
  driver->app().run("present.toggle");
  driver->settle();
  check_words_are_whole();
  CHECK(ellipses(*ImGui::GetDrawData()) == 0);
}
