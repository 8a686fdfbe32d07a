// A lesson in front of a room: hands, the space bar, few lanes.
#include "ui/app/present.h"

#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "ui/app/comparison.h"
#include "ui/app/lesson_card.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/panels/timelines.h"

using namespace trainscope;
using namespace trainscope::ui;
using trainscope::trace::LaneKind;

namespace {

constexpr const char* kLesson = "pinned-vs-pageable";

bool press(Driver& driver, ImGuiKeyChord key) {
  return driver.act([key](ImGuiTestContext* context) { context->KeyPress(key); });
}

std::size_t lanes_shown(Driver& driver, std::size_t side) {
  const TimelineInput input = timeline_input(driver.workspace(), driver.app().attention());
  const auto& hidden = input.sides[side].hidden;
  std::size_t shown = 0;
  for (std::uint32_t lane = 0; lane < input.sides[side].trace->lanes().size(); ++lane)
    if (std::find(hidden.begin(), hidden.end(), lane) == hidden.end()) ++shown;
  return shown;
}

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

TEST_CASE("a lesson in front of a room is taught with the number keys and the space bar") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_lesson(scenario::find_lesson(kLesson));
  driver->settle();
  REQUIRE(press(*driver, ImGuiKey_F5));
  REQUIRE(driver->workspace().present.on);
  CHECK(driver->app().theme_mode() == ThemeMode::kProjector);
  LessonModel& lesson = *driver->workspace().lesson();
  while (!lesson.step().question) REQUIRE(press(*driver, ImGuiKey_Space));
  const std::size_t asked = lesson.progress.step();

  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK_FALSE(lesson.progress.answer(asked).committed);
  CHECK(driver->workspace().notice.find("Count hands first") != std::string::npos);
  driver->workspace().notice.clear();
  for (const ImGuiKey key : {ImGuiKey_1, ImGuiKey_3, ImGuiKey_3}) REQUIRE(press(*driver, key));
  CHECK(driver->workspace().present.hands_for(asked, 2) == 2);
  REQUIRE(press(*driver, ImGuiKey_0));
  CHECK(driver->workspace().present.most_hands(asked) == 0);
  for (const ImGuiKey key : {ImGuiKey_2, ImGuiKey_1, ImGuiKey_2}) REQUIRE(press(*driver, key));
  keep_picture(*driver, "present hands");
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(lesson.progress.answer(asked).option == 1);
  REQUIRE(press(*driver, ImGuiKey_1));  // it can no longer be voted on
  CHECK(driver->workspace().present.hands_for(asked, 0) == 1);

  while (lesson.step().kind != scenario::StepKind::kRun) REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK_FALSE(driver->workspace().revealed());
  REQUIRE(press(*driver, ImGuiKey_Space));
  REQUIRE(driver->workspace().revealed());
  for (std::size_t lanes = 1; lanes <= Present::kLanes; ++lanes) {
    for (std::size_t side = 0; side < 2; ++side) CHECK(lanes_shown(*driver, side) == lanes);
    if (lanes < Present::kLanes) REQUIRE(press(*driver, ImGuiKey_Space));
  }
  // What was guessed is looked at once the lanes have been.
  CHECK(card_of(driver->workspace()).recaps.empty());
  REQUIRE(press(*driver, ImGuiKey_Space));
  REQUIRE(card_of(driver->workspace()).recaps.size() == 1);
  CHECK(card_of(driver->workspace()).recaps[0].question.options[1].tag.starts_with("the room's"));
  CHECK(driver->workspace().present.causes == 0);
  const scenario::Sides sides = driver->workspace().current_sides();
  const std::size_t causes =
      compare_runs(*sides[0], *sides[1], &lesson.lesson).waterfall.size() - 2;
  const std::size_t here = lesson.progress.step();
  for (std::size_t i = 1; i <= causes; ++i) {
    REQUIRE(press(*driver, ImGuiKey_Space));
    CHECK(driver->workspace().present.causes == i);
    if (i == 1) keep_picture(*driver, "present one cause");
    CHECK(cut_text(*ImGui::GetDrawData()).empty());
  }
  CHECK(lesson.progress.step() == here);
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(lesson.progress.step() == here + 1);

  // The span that is asked for, and then on.
  REQUIRE(lesson.step().question->kind == scenario::QuestionKind::kFindSpan);
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(lesson.shown);
  CHECK(lesson.progress.answer(here + 1).committed);
  CHECK_FALSE(driver->workspace().playhead.playing);
  keep_picture(*driver, "present found");
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(lesson.progress.step() == here + 2);

  REQUIRE(press(*driver, ImGuiKey_F5));
  CHECK(driver->app().theme_mode() == ThemeMode::kDark);
  CHECK(lanes_shown(*driver, 0) > Present::kLanes);
}

TEST_CASE("Space goes past a number that no hand can show, and tells it after the run") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_lesson(scenario::find_lesson("checkpointing"));
  driver->app().set_present(true);
  driver->settle();
  LessonModel& lesson = *driver->workspace().lesson();
  const auto asks_for_number = [&] {
    return lesson.step().question &&
           lesson.step().question->kind == scenario::QuestionKind::kNumber;
  };
  for (int i = 0; i < 12 && !asks_for_number(); ++i) {
    if (lesson.step().question && lesson.progress.answer(lesson.progress.step()).option < 0)
      REQUIRE(press(*driver, ImGuiKey_1));
    REQUIRE(press(*driver, ImGuiKey_Space));
  }
  REQUIRE(asks_for_number());
  const std::size_t asked = lesson.progress.step();
  REQUIRE(press(*driver, ImGuiKey_Space));
  CHECK(lesson.progress.answer(asked).skipped);
  CHECK_FALSE(driver->workspace().playhead.playing);
  for (int i = 0; i < 12 && !driver->workspace().present.verdict; ++i)
    REQUIRE(press(*driver, ImGuiKey_Space));
  const LessonCard card = card_of(driver->workspace());
  REQUIRE(card.recaps.size() == 2);
  CHECK(card.recaps[1].question.verdict.find("The run says") != std::string::npos);
  keep_picture(*driver, "present number");
}

TEST_CASE("a room sees the same at 4K, twice as large in pixels") {
  struct Seen {
    float text, lesson, timelines;
  };
  const auto seen_at = [](int width, int height) -> std::optional<Seen> {
    std::string why;
    const auto driver = open_driven<Driver>(why, width, height);
    if (!driver) return std::nullopt;
    driver->open_revealed(kLesson);
    driver->app().set_present(true);
    driver->settle();
    keep_picture(*driver, "present " + std::to_string(height));
    const ImVec2 lesson = ImGui::FindWindowByName(kLessonPanel)->Size;
    const ImVec2 timelines = ImGui::FindWindowByName(kTimelinesPanel)->Size;
    return Seen{ImGui::GetStyle().FontSizeBase, lesson.x, timelines.y};
  };
  const auto full = seen_at(1920, 1080), four = seen_at(3840, 2160);
  if (!full || !four) TRAINSCOPE_SKIP("nothing can be drawn here");
  CHECK(four->text == Approx(2 * full->text).margin(1));  // whole pixels
  CHECK(four->lesson == Approx(2 * full->lesson).margin(8));
  CHECK(four->timelines == Approx(2 * full->timelines).margin(8));
}

TEST_CASE("a laptop's GPU is one key away from a lesson, and so is the way back") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed(kLesson);
  driver->app().set_present(true);
  driver->settle();
  const program::Config before = driver->workspace().sides()[0].config;
  REQUIRE(press(*driver, ImGuiKey_L));
  CHECK(driver->workspace().forked());
  for (const SideModel& side : driver->workspace().sides())
    CHECK(side.run->config.word("machine") == "laptop-1");
  CHECK(lanes_shown(*driver, 0) > Present::kLanes);  // exploring shows all
  REQUIRE(press(*driver, ImGuiKey_Escape));
  CHECK_FALSE(driver->workspace().forked());
  CHECK(driver->workspace().sides()[0].config == before);
}

TEST_CASE("where a laptop's GPU cannot be tried, its key says why in a sentence") {
  const auto told = [](const char* lesson) -> std::optional<std::string> {
    std::string why;
    const auto driver = open_driven<Driver>(why, 1366, 768);
    if (!driver) return std::nullopt;
    driver->open_revealed(lesson);
    driver->workspace().notice.clear();
    REQUIRE(press(*driver, ImGuiKey_L));
    CHECK_FALSE(driver->workspace().forked());
    return driver->workspace().notice;
  };
  const auto memory = told("sdpa"), gpus = told("tensor-parallel"), other = told("occupancy-cliff");
  if (!memory || !gpus || !other) TRAINSCOPE_SKIP("nothing can be drawn here");
  CHECK(memory->find("7.62 GiB beside CUDA's context: there it would be out of memory.") !=
        std::string::npos);
  CHECK(*gpus == "This runs on 8 GPUs, and a laptop has one.");
  CHECK(*other == "This lesson is made for h200-1, b200-1.");
}

TEST_CASE(
    "a room sees what a step points at in more than half of the height, and knobs below lanes") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->open_revealed("amp-loss-scale");
  driver->app().set_present(true);
  driver->workspace().present.reveal_all();
  const LessonModel& lesson = *driver->workspace().lesson();
  const auto next = [&] {
    if (lesson.step().question) driver->workspace().lesson()->progress.skip();
    driver->workspace().next_step();
    driver->settle();
  };
  const auto share_of = [](const char* panel) {
    const ImGuiWindow* window = ImGui::FindWindowByName(panel);
    return window ? window->Size.y / ImGui::GetMainViewport()->Size.y : 0;
  };
  const auto points_at = [&] { return lesson.step().focus ? lesson.step().focus->panel : ""; };
  while (points_at() != "loss-scaling") next();
  REQUIRE(lesson.step().question->kind == scenario::QuestionKind::kFindSpan);
  CHECK(is_in_front(kLossScalingPanel));
  CHECK(share_of(kLossScalingPanel) < 0.5F);  // the span is in the timelines
  next();
  while (points_at() != "loss-scaling") next();
  CHECK(is_in_front(kLossScalingPanel));
  CHECK(share_of(kLossScalingPanel) > 0.5F);
  while (lesson.step().kind != scenario::StepKind::kVary || lesson.step().focus) next();
  keep_picture(*driver, "present knobs");
  CHECK(is_in_front(kKnobsPanel));
  CHECK(share_of(kKnobsPanel) < 0.5F);
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  while (lesson.step().kind != scenario::StepKind::kRecap) next();
  CHECK_FALSE(is_in_front(kKnobsPanel));
}

TEST_CASE("the lecturer's notes are on a second page") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_lesson(scenario::find_lesson(kLesson));
  driver->settle();
  REQUIRE_FALSE(driver->workspace().lesson()->lesson.notes.empty());
  REQUIRE(press(*driver, ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_N));
  CHECK(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
  CHECK(cut_text(*ImGui::GetDrawData()).empty());
  keep_picture(*driver, "present notes");
}

TEST_CASE("no lesson shows a room more than three lanes a side, and each of them has spans") {
  Workspace workspace([] {});
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

TEST_CASE("a room sees the span that a step explains, chosen, with the arrows that it speaks of") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->open_revealed("read-a-trace");
  driver->app().set_present(true);
  driver->settle();
  const LessonModel& lesson = *driver->workspace().lesson();
  while (lesson.step().kind != scenario::StepKind::kExplain) {
    if (lesson.step().question) driver->workspace().skip_question();
    driver->app().run("lesson.next");  // by hand, before the lanes were revealed one by one
    driver->settle();
  }
  keep_picture(*driver, "present explained");
  const scenario::Focus& focus = *lesson.step().focus;
  const auto meant = scenario::shown_span(focus, *driver->workspace().sides()[1].run);
  REQUIRE(meant);
  const TimelineState& timeline = driver->app().attention().timeline;
  CHECK(timeline.selected == SpanRef{Side::kB, *meant});
  const trace::Trace& trace = *driver->workspace().sides()[1].run->trace;
  const Nanos start = trace.spans()[*meant].start + driver->workspace().playhead.offset;
  CHECK(timeline.view.start <= start);
  CHECK(timeline.view.end > start);
  CHECK(timeline.view.end - timeline.view.start < end_of_sides(driver->workspace()) / 4);
  // Both ends of the arrow are on lanes that are shown.
  const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
  const auto is_shown = [&](trace::SpanId span) {
    return std::ranges::find(input.sides[1].hidden, trace.spans()[span].lane) ==
           input.sides[1].hidden.end();
  };
  REQUIRE_FALSE(timeline.links.empty());
  CHECK(std::ranges::all_of(
      timeline.links, [&](const Link& link) { return is_shown(link.from) && is_shown(link.to); }));

  driver->app().run("lesson.next");
  driver->settle();
  CHECK(driver->app().attention().timeline.fitted);  // the whole again
}

TEST_CASE("in front of a room what is to be read with care leaves the lanes their room") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->open_revealed("interleaved-pipeline");
  driver->app().set_present(true);
  driver->workspace().present.reveal_all();
  driver->workspace().next_step();
  driver->settle();
  keep_picture(*driver, "present with care");
  REQUIRE_FALSE(driver->workspace().sides()[0].run->caveat.empty());
  const TimelineInput input = timeline_input(driver->workspace(), driver->app().attention());
  const TimeRange view = driver->app().attention().timeline.view;
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    CHECK(context->ItemExists("//Timelines##pair/caveat"));
    for (std::size_t side = 0; side < 2; ++side) {
      const trace::Trace& trace = *input.sides[side].trace;
      const Nanos offset = input.sides[side].offset;
      // Of each lane that is shown and at work the longest span.
      for (trace::LaneId lane = 0; lane < trace.lanes().size(); ++lane) {
        if (std::ranges::find(input.sides[side].hidden, lane) != input.sides[side].hidden.end())
          continue;
        trace::SpanId longest = trace::kNone;
        trace::for_each(trace.spans(), [&](const trace::Span& span, trace::SpanId id) {
          const bool inside = span.start + offset > view.start && span.end() + offset < view.end;
          if (span.lane != lane || !inside) return;
          if (longest == trace::kNone || span.duration > trace.spans()[longest].duration)
            longest = id;
        });
        if (longest == trace::kNone ||
            trace.spans()[longest].duration < (view.end - view.start) / 40)
          continue;
        INFO(trace.lanes()[lane].name);
        const std::string item = std::string("//Timelines##pair/**/") + (side == 0 ? "A" : "B") +
                                 "/span " + std::to_string(longest);
        CHECK(context->ItemInfo(item.c_str()).RectClipped.GetHeight() > 20);
      }
    }
  }));
}
