// A room votes on what it sees: on a small projector, too, all options of a question at once.
#include <imgui_internal.h>

#include <catch2/catch.hpp>

#include "ui/app/lesson/lesson_card.h"
#include "ui/app/lesson/room_view.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// The options of which something is below the card's edge.
std::string options_cut(Driver& driver, std::size_t count) {
  std::string cut;
  driver.act([&](ImGuiTestContext* context) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::string item = "//Lesson##lesson/**/option " + std::to_string(i);
      const ImGuiTestItemInfo info = context->ItemInfo(item.c_str(), ImGuiTestOpFlags_NoError);
      const bool whole = info.ID != 0 && info.RectFull.GetHeight() > 8 &&
                         info.RectClipped.GetHeight() > info.RectFull.GetHeight() - 1.5F;
      if (!whole) cut += " " + std::to_string(i);
    }
  });
  return cut;
}

float share_of_lesson() {
  const ImGuiWindow* window = ImGui::FindWindowByName(kLessonPanel);
  return window ? window->Size.x / ImGui::GetMainViewport()->Size.x : 0;
}

// Calls at each step; questions are skipped on the way.
template <typename AtStep>
void walk(Driver& driver, const scenario::Lesson& lesson, const AtStep& at_step) {
  driver.workspace().open_lesson(lesson);
  driver.app().set_present(true);
  driver.settle();
  while (true) {
    at_step(driver.workspace().lesson()->step());
    for (const char* action : {"lesson.skip", "lesson.run"})
      if (driver.app().can(action)) driver.app().run(action);
    driver.settle();
    if (!driver.app().can("lesson.next")) return;
    driver.app().run("lesson.next");
    driver.settle();
  }
}

}  // namespace

TEST_CASE("a room sees all options of every lesson's questions at once") {
  REQUIRE_DRIVER(driver, 1280, 720);
  int asked = 0;
  for (const scenario::Lesson& lesson : scenario::all_lessons())
    walk(*driver, lesson, [&](const scenario::Step& step) {
      const scenario::Question* question = open_choice(driver->workspace());
      if (!question) return;
      ++asked;
      CAPTURE(lesson.id, step.id);
      CHECK(options_cut(*driver, question->options.size()) == "");
    });
  CHECK(asked > 140);
}

TEST_CASE("options take the timelines' place while they are voted on, and give it back") {
  REQUIRE_DRIVER(driver, 1280, 720);
  walk(*driver, scenario::find_lesson("num-workers"), [&](const scenario::Step& step) {
    if (step.id != "say-it-back") {
      CHECK((open_choice(driver->workspace()) || share_of_lesson() < 0.4F));
      return;
    }
    CHECK(share_of_lesson() > 0.45F);
    keep_picture(*driver, "room options wide");
    driver->app().run("lesson.option_1");
    driver->app().run("present.reveal");
    driver->settle();
    CHECK_FALSE(open_choice(driver->workspace()));
    CHECK(share_of_lesson() < 0.4F);
    keep_picture(*driver, "room options answered");
  });
}

TEST_CASE("a task that a room does shows its value, and the table of values is there") {
  REQUIRE_DRIVER(driver, 1280, 720);
  int tasks = 0;
  walk(*driver, scenario::find_lesson("keep-it-fed"), [&](const scenario::Step& step) {
    if (step.kind != scenario::StepKind::kVary) return;
    ++tasks;
    const LessonCard card = card_of(driver->workspace());
    CHECK(card.goal == "Not there yet.");
    CHECK(card.goal_words.starts_with("GPU-Util of A: "));
    CHECK(card.goal_words.ends_with(" %, asked for: at least 96 %"));
    keep_picture(*driver, "room task");
    driver->app().deck().open_by_hand("compare");
    driver->settle();
    CHECK(is_in_front(kComparePanel));
    keep_picture(*driver, "room compare");
  });
  CHECK(tasks == 1);
}

TEST_CASE("a room sees where the difference went, and at a task the values that it is about") {
  REQUIRE_DRIVER(driver, 1280, 720);
  walk(*driver, scenario::find_lesson("first-script"), [&](const scenario::Step& step) {
    if (step.kind == scenario::StepKind::kVary && step.focus->panel == "compare")
      CHECK(is_in_front(kComparePanel));
    if (step.kind == scenario::StepKind::kRun) CHECK(is_in_front(kDifferencePanel));
  });
}

TEST_CASE("a question on a steady step has one on the timelines, not the workers' start") {
  REQUIRE_DRIVER(driver, 1280, 720);
  walk(*driver, scenario::find_lesson("num-workers"), [&](const scenario::Step& step) {
    if (step.id != "say-it-back" && step.id != "vary") return;
    CAPTURE(step.id);
    const TimeRange view = driver->app().attention().timeline.view;
    CHECK(view.end - view.start < end_of_sides(driver->workspace()) / 10);
    const analysis::Measured& measured = driver->workspace().sides()[0].run->facts.measured;
    CHECK(view.start > measured.window.start - (view.end - view.start));
    keep_picture(*driver, "steady " + step.id);
  });
}
