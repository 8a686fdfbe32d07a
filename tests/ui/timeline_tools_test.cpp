// The timelines' tools by mouse and keys: a selected range, measuring, the next span of a lane.
#include <imgui_internal.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <initializer_list>

#include "support/skip.h"
#include "ui/app/views/range_rows.h"
#include "ui/cut_text.h"
#include "ui/panels/timelines/measure_bar.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

const trace::Trace& trace_of(Driver& driver, std::size_t side) {
  return *driver.workspace().sides()[side].view->trace;
}

TimelineState& state_of(Driver& driver) {
  return driver.app().attention().timeline;
}

// Where the timelines' lanes are on the screen, from the bars that are registered there.
struct Lanes {
  ImGuiWindow* window;
  ImVec2 at(float across, float down) const {
    const ImRect box = window->Rect();
    return {box.Min.x + box.GetWidth() * across, box.Min.y + box.GetHeight() * down};
  }
};

Lanes lanes_of(ImGuiTestContext* context) {
  return {context->GetWindowByRef("//Timelines##pair")};
}

void select_range(Driver& driver, float from, float to) {
  REQUIRE(driver.act([=](ImGuiTestContext* context) {
    const Lanes lanes = lanes_of(context);
    context->MouseMoveToPos(lanes.at(from, 0.4F));
    context->KeyDown(ImGuiMod_Shift);
    context->MouseDown(0);
    context->MouseMoveToPos(lanes.at(to, 0.4F));
    context->MouseUp(0);
    context->KeyUp(ImGuiMod_Shift);
  }));
}

void press(Driver& driver, ImGuiKeyChord key, bool over_timelines = true) {
  REQUIRE(driver.act([=](ImGuiTestContext* context) {
    context->MouseMoveToPos(over_timelines ? lanes_of(context).at(0.6F, 0.97F) : ImVec2(700, 20));
    context->KeyPress(key);
  }));
}

void check_legible(Driver& driver) {
  driver.settle();
  for (const CutLetter& letter : cut_text(*ImGui::GetDrawData())) {
    CAPTURE(letter.window, letter.min.x, letter.min.y, letter.clip_left, letter.clip_right);
    CHECK(false);
  }
  CHECK(letters(*ImGui::GetDrawData()) > 20);
}

}  // namespace

TEST_CASE("shift-drag selects a range, whose sums of each lane stand below; Escape clears it") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  select_range(*driver, 0.4F, 0.7F);
  const auto range = state_of(*driver).range;
  REQUIRE(range);
  CHECK(range->end > range->start);
  const auto input = timeline_input(driver->workspace(), driver->app().attention());
  const auto rows = range_rows(input, *range);
  REQUIRE(rows.size() >= 4);
  const auto gpu = std::find_if(rows.begin(), rows.end(), [](const RangeRow& row) {
    return row.lane.find("stream") != std::string::npos;
  });
  REQUIRE(gpu != rows.end());
  REQUIRE(gpu->cells[0]);
  REQUIRE(gpu->cells[1]);
  CHECK(gpu->cells[0]->share > 0);
  CHECK(gpu->cells[0]->share <= 1);
  CHECK(driver->act([](ImGuiTestContext* context) {
    IM_CHECK(context->ItemExists("//Timelines##pair/**/Zoom to it"));
  }));
  check_legible(*driver);
  press(*driver, ImGuiKey_Escape);
  CHECK_FALSE(state_of(*driver).range);
}

TEST_CASE("what is selected is zoomed to, and a selected range is played over and over") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  select_range(*driver, 0.4F, 0.5F);
  const TimeRange range = *state_of(*driver).range;
  REQUIRE(driver->click("//Timelines##pair/**/Zoom to it"));
  const TimeRange view = state_of(*driver).view;
  CHECK(view.start < range.start);
  CHECK(view.end > range.end);
  CHECK(view.end - view.start < 2 * (range.end - range.start));
  Playhead& playhead = driver->workspace().playhead;
  playhead.time = 0;
  driver->app().run("play.toggle");
  CHECK(playhead.time == range.start);
  bool looped = false;
  Nanos last = playhead.time;
  playhead.seconds = 0.2;
  const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!looped && std::chrono::steady_clock::now() < late) {
    driver->frame();
    CHECK(playhead.time >= range.start);
    CHECK(playhead.time <= range.end);
    looped = playhead.time < last;
    last = playhead.time;
  }
  CHECK(looped);
  CHECK(playhead.playing);
  driver->app().run("play.toggle");
}

TEST_CASE("M measures between the ends of two spans, across A and B, and Escape leaves") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  press(*driver, ImGuiKey_M, false);
  REQUIRE(state_of(*driver).measure.on);
  // Two spans that are wide on the screen.
  const auto widest = [&](std::size_t side) {
    const trace::Trace& trace = trace_of(*driver, side);
    trace::SpanId best = trace::kNone;
    for (trace::SpanId id = 0; id < trace.spans().size(); ++id) {
      const trace::Span& span = trace.spans()[id];
      if (trace.lanes()[span.lane].name != "host main") continue;
      if (best == trace::kNone || span.duration > trace.spans()[best].duration) best = id;
    }
    return best;
  };
  const trace::SpanId in_a = widest(0), in_b = widest(1);
  const auto click_at = [&](const std::string& bar, bool end) {
    REQUIRE(driver->act([=](ImGuiTestContext* context) {
      const ImGuiTestItemInfo item = context->ItemInfo(bar.c_str());
      IM_CHECK(item.ID != 0);
      const float x = end ? item.RectFull.Max.x - 1 : item.RectFull.Min.x + 1;
      context->MouseMoveToPos({x, item.RectFull.GetCenter().y});
      context->MouseClick(0);
    }));
  };
  click_at("//Timelines##pair/**/A/span " + std::to_string(in_a), true);
  REQUIRE(state_of(*driver).measure.from);
  click_at("//Timelines##pair/**/B/span " + std::to_string(in_b), false);
  const Measure measure = state_of(*driver).measure;
  REQUIRE(measure.to);
  CHECK(measure.from->side == Side::kA);
  CHECK(measure.from->is_end);
  CHECK(measure.from->time == trace_of(*driver, 0).spans()[in_a].end());
  CHECK(measure.to->side == Side::kB);
  CHECK_FALSE(measure.to->is_end);
  CHECK(measure.to->time == trace_of(*driver, 1).spans()[in_b].start);
  CHECK(state_of(*driver).selected.span == trace::kNone);
  const auto input = timeline_input(driver->workspace(), driver->app().attention());
  CHECK(place_words(input, *measure.from).starts_with("A "));
  CHECK(place_words(input, *measure.to).find("start of ") != std::string::npos);
  check_legible(*driver);
  press(*driver, ImGuiKey_Escape);
  CHECK_FALSE(state_of(*driver).measure.on);
}

TEST_CASE("the keys alone measure: Enter takes the edge at the playhead") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  const trace::Trace& trace = trace_of(*driver, 0);
  trace::SpanId span = 0;
  while (trace.lanes()[trace.spans()[span].lane].name != "host main") ++span;
  driver->app().select_span({Side::kA, span});
  for (const ImGuiKeyChord key :
       std::initializer_list<ImGuiKeyChord>{ImGuiKey_M, ImGuiKey_Period, ImGuiKey_Enter,
                                            ImGuiMod_Shift | ImGuiKey_Period, ImGuiKey_Enter})
    press(*driver, key, false);
  const Measure& measure = state_of(*driver).measure;
  REQUIRE(measure.from);
  REQUIRE(measure.to);
  CHECK(measure.from->span == state_of(*driver).selected.span);
  CHECK(measure.from->time == trace.spans()[measure.from->span].start);
  CHECK(measure.to->time > measure.from->time);
  CHECK(measure.to->time == driver->workspace().playhead.time);
  const trace::Span& last =
      trace_of(*driver, static_cast<std::size_t>(measure.to->side)).spans()[measure.to->span];
  CHECK(measure.to->time == (measure.to->is_end ? last.end() : last.start));
}

TEST_CASE("full stop and comma walk along the selected span's lane") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  const trace::Trace& trace = trace_of(*driver, 0);
  trace::SpanId first = 0;
  while (!trace::is_gpu_work(trace.spans()[first].category)) ++first;
  driver->app().select_span({Side::kA, first});
  driver->settle();
  std::vector<trace::SpanId> visited{first};
  for (int i = 0; i < 3; ++i) {
    press(*driver, ImGuiKey_Period);
    visited.push_back(state_of(*driver).selected.span);
    const trace::Span &before = trace.spans()[visited[visited.size() - 2]],
                      &now = trace.spans()[visited.back()];
    CHECK(now.lane == before.lane);
    CHECK(now.start >= before.start);
    CHECK(visited.back() != visited[visited.size() - 2]);
    CHECK(driver->workspace().playhead.time == now.start);
    CHECK(state_of(*driver).view.start <= now.start);
    CHECK(state_of(*driver).view.end >= now.end());
  }
  press(*driver, ImGuiKey_Comma);
  CHECK(state_of(*driver).selected.span == visited[2]);
}

TEST_CASE("W, A, S and D move the view only where the mouse is over the timelines") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  const auto width = [&] { return state_of(*driver).view.end - state_of(*driver).view.start; };
  const Nanos whole = width();
  for (const ImGuiKey key : {ImGuiKey_W, ImGuiKey_A, ImGuiKey_S, ImGuiKey_D})
    press(*driver, key, false);
  CHECK(width() == whole);
  CHECK_FALSE(driver->workspace().playhead.by_step);
  press(*driver, ImGuiKey_W);
  CHECK(width() < whole);
  const Nanos start = state_of(*driver).view.start;
  press(*driver, ImGuiKey_D);
  CHECK(state_of(*driver).view.start > start);
  press(*driver, ImGuiKey_A);
  press(*driver, ImGuiKey_A);
  CHECK(state_of(*driver).view.start < start);
  CHECK_FALSE(driver->workspace().playhead.by_step);
  press(*driver, ImGuiMod_Shift | ImGuiKey_A);  // the same wherever the mouse is
  CHECK(driver->workspace().playhead.by_step);
}

TEST_CASE("a slash searches: matches are counted and lit, Enter shows the next one") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  press(*driver, ImGuiKey_Slash);
  TimelineSearch& search = driver->app().attention().search;
  REQUIRE(search.open);
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyChars("backward"); }));
  CHECK(search.words == "backward");
  CHECK(search.found[0].count > 0);
  CHECK(search.found[1].count > 0);
  check_legible(*driver);
  const auto go = [&](ImGuiKeyChord key) {
    REQUIRE(driver->act([=](ImGuiTestContext* context) { context->KeyPress(key); }));
    return state_of(*driver).selected;
  };
  const SpanRef first = go(ImGuiKey_Enter), second = go(ImGuiKey_Enter);
  REQUIRE(first.span != trace::kNone);
  CHECK(first != second);
  CHECK(go(ImGuiKey_Enter | ImGuiMod_Shift) == first);
  const auto name = [&](const SpanRef& ref) {
    const trace::Trace& trace = trace_of(*driver, static_cast<std::size_t>(ref.side));
    const trace::Span& span = trace.spans()[ref.span];
    return trace.name(span) + std::string(trace::name_of(span.category));
  };
  CHECK(name(first).find("ackward") != std::string::npos);
  CHECK(name(second).find("ackward") != std::string::npos);
  REQUIRE(driver->click("//Timelines##pair/**/Next"));
  CHECK(state_of(*driver).selected == second);
  press(*driver, ImGuiKey_Escape);
  CHECK_FALSE(search.open);
}

TEST_CASE(
    "a lane's menu pins it to the top and hides it, in A and B; a line tells what is hidden") {
  REQUIRE_DRIVER(driver, 1600, 1400);
  open_trainings(*driver);
  const auto lanes = [&](std::size_t side) {
    const auto input = timeline_input(driver->workspace(), driver->app().attention());
    LayoutRequest request;
    request.hidden = input.sides[side].hidden;
    request.pinned = input.sides[side].pinned;
    std::vector<std::string> names;
    const TimelineSide& one = input.sides[side];
    for (const LaneBox& lane : lay_out_lanes(*one.trace, *one.draw, request).lanes)
      names.push_back(one.trace->lanes()[lane.lane].name);
    return names;
  };
  const auto choose = [&](const std::string& lane, const char* item) {
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      const ImGuiTestItemInfo label =
          context->ItemInfo(("//Timelines##pair/**/A/lane " + lane).c_str());
      IM_CHECK(label.ID != 0);
      context->MouseMoveToPos(label.RectFull.GetCenter());
      context->MouseClick(ImGuiMouseButton_Right);
      context->ItemClick((std::string("//$FOCUSED/") + item).c_str());
    }));
  };
  const std::vector<std::string> before = lanes(0);
  REQUIRE(before.size() >= 4);
  choose(before[2], "Pin to the top");
  CHECK(lanes(0).front() == before[2]);
  CHECK(lanes(0).size() == before.size());
  CHECK(lanes(1).front() == before[2]);
  choose(before[0], "Hide");
  choose(before[1], "Hide");
  CHECK(lanes(0).size() == before.size() - 2);
  CHECK(timeline_input(driver->workspace(), driver->app().attention()).sides[0].filtered == 2);
  check_legible(*driver);
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->ItemClick("//Timelines##pair/**/A/hidden lanes", 0, ImGuiTestOpFlags_NoCheckHoveredId);
  }));
  CHECK(lanes(0).size() == before.size());
  choose(before[2], "Unpin");
  CHECK(lanes(0) == before);
}

TEST_CASE("the minimap's window is dragged along the run, and a click beside it goes there") {
  REQUIRE_DRIVER(driver);
  open_trainings(*driver);
  press(*driver, ImGuiKey_I);
  CHECK_FALSE(state_of(*driver).show_minimap);
  press(*driver, ImGuiKey_I);
  for (int i = 0; i < 3; ++i) driver->app().run("view.zoom_in");
  driver->settle();
  const TimeRange before = state_of(*driver).view;
  const auto window = [](ImGuiTestContext* context) {
    const ImGuiTestItemInfo item = context->ItemInfo("//Timelines##pair/**/minimap view");
    IM_CHECK_RETV(item.ID != 0, ImRect());
    return item.RectFull;
  };
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    const ImVec2 from = window(context).GetCenter();
    context->MouseMoveToPos(from);
    context->MouseDown(0);
    context->MouseMoveToPos({from.x + 60, from.y});
    context->MouseUp(0);
  }));
  const TimeRange dragged = state_of(*driver).view;
  CHECK(dragged.start > before.start);
  CHECK(dragged.end - dragged.start == before.end - before.start);
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    const ImRect box = window(context);
    context->MouseMoveToPos({box.Min.x - 80, box.GetCenter().y});
    context->MouseClick(0);
  }));
  CHECK(state_of(*driver).view.start < dragged.start);
  check_legible(*driver);
}

namespace {

// All tools at once: what stands below the timelines, and what is drawn upon them.
void use_every_tool(Driver& driver) {
  TimelineState& state = state_of(driver);
  const Nanos end = end_of_sides(driver.workspace());
  state.range = TimeRange{end * 3 / 10, end * 6 / 10};
  driver.app().run("timeline.search");
  driver.app().attention().search.words = "copy";
  driver.settle();
  driver.app().run("timeline.next_match");
  driver.app().run("timeline.pin_lane");
  driver.app().run("timeline.measure");
  const trace::Trace &a = trace_of(driver, 0), &b = trace_of(driver, 1);
  const auto edge = [](const trace::Trace& trace, Side side, std::uint32_t of_ten, bool is_end) {
    trace::SpanId id = trace.spans().size() * of_ten / 10;
    while (!trace::is_gpu_work(trace.spans()[id].category)) ++id;
    const trace::Span& span = trace.spans()[id];
    return Edge{side, span.lane, id, is_end, is_end ? span.end() : span.start};
  };
  state.measure.from = edge(a, Side::kA, 4, true);
  state.measure.to = edge(b, Side::kB, 8, false);
  driver.settle();
}

}  // namespace

TEST_CASE("with every tool in use no word is cut, in any theme, at any scale, in a small window") {
  REQUIRE_DRIVER(driver, 1280, 720);
  open_trainings(*driver);
  use_every_tool(*driver);
  for (const ThemeMode mode : {ThemeMode::kDark, ThemeMode::kLight, ThemeMode::kProjector})
    for (const float zoom : {0.75F, 1.0F, 1.5F, 2.0F, 3.0F}) {
      CAPTURE(static_cast<int>(mode), zoom);
      driver->app().set_theme(mode);
      driver->app().set_zoom(zoom);
      check_legible(*driver);
    }
}

// On demand: TRAINSCOPE_PICTURES=FOLDER tests_ui '[.tools]'
TEST_CASE("pictures of the timelines' tools", "[.tools]") {
  if (!pictures_folder()) TRAINSCOPE_SKIP("TRAINSCOPE_PICTURES names no folder");
  const auto save = [&](Driver& driver, const std::string& name) {
    driver.settle();
    keep_picture(driver, name);
  };
  REQUIRE_DRIVER(driver, 1600, 900);
  open_trainings(*driver);
  save(*driver, "plain");
  state_of(*driver).range =
      TimeRange{end_of_sides(driver->workspace()) / 4, end_of_sides(driver->workspace()) / 2};
  save(*driver, "range");
  state_of(*driver).range.reset();
  use_every_tool(*driver);
  for (const ThemeMode mode : {ThemeMode::kDark, ThemeMode::kLight, ThemeMode::kProjector})
    for (const float zoom : {0.75F, 1.0F, 2.0F}) {
      driver->app().set_theme(mode);
      driver->app().set_zoom(zoom);
      save(*driver, "tools-" + std::to_string(static_cast<int>(mode)) + "-" +
                        std::to_string(static_cast<int>(zoom * 100)));
    }
}
