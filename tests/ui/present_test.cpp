// A lesson in front of a room: hands, the space bar, few lanes.
#include "ui/app/lesson/present.h"

#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "ui/app/lesson/lesson_card.h"
#include "ui/app/views/comparison.h"
#include "ui/cut_text.h"
#include "ui/driver.h"
#include "ui/panels/timelines/timelines.h"

using namespace trainscope;
using namespace trainscope::ui;

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
