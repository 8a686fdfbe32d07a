// What a lesson's card says: how a number is asked for, and where its text need not hold.
#include "ui/app/lesson/lesson_card.h"

#include <imgui_internal.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "ui/panels/lesson/lesson.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;

namespace {

std::string unit_of(const std::string& answer, const std::string& unit = "") {
  scenario::Question question;
  question.kind = scenario::QuestionKind::kNumber;
  question.answer = scenario::Expression::parse(answer);
  question.unit = unit;
  return entry_for(question).unit;
}

// Both sides carried out on a machine.
std::vector<RunPointer> runs_on(const scenario::Lesson& lesson, const char* machine) {
  program::Config flags;
  flags.set("machine", std::string(machine));
  std::vector<RunPointer> runs;
  for (const char* label : {"A", "B"})
    runs.push_back(std::make_shared<const analysis::Run>(
        analysis::run_config(label, lesson.side(label, flags))));
  return runs;
}

void walk_to_the_end_of_the_run(Driver& driver) {
  for (int i = 0; i < 8 && !driver.workspace().revealed(); ++i) {
    for (const char* action : {"lesson.skip", "lesson.run", "lesson.next"})
      if (driver.app().can(action)) driver.app().run(action);
    driver.settle();
  }
}

// The first of turning knobs.
void walk_to_the_task(Driver& driver) {
  const LessonModel& lesson = *driver.workspace().lesson();
  for (int i = 0; i < 12 && lesson.step().kind != scenario::StepKind::kVary; ++i) {
    for (const char* action : {"lesson.skip", "lesson.next"})
      if (driver.app().can(action)) driver.app().run(action);
    driver.settle();
  }
  REQUIRE(lesson.step().kind == scenario::StepKind::kVary);
}

}  // namespace

TEST_CASE("a number's box is labelled with what it counts, and a quotient says nothing itself") {
  CHECK(unit_of("A.time.step") == "ms");
  CHECK(unit_of("ratio(B.time.step - A.time.step, A.time.step)", "steps") == "steps");
  CHECK(unit_of("ratio(B.memory.peak_allocated, A.memory.peak_allocated)").empty());
}

TEST_CASE("a prediction is judged by what happened, and what is said back by whether it is right") {
  CHECK(verdict_title("predict", true) == "That is what happened.");
  CHECK(verdict_title("observe", false) == "Not on this machine.");
  CHECK(verdict_title("recap", true) == "Right.");
  CHECK(verdict_title("recap", false) == "Not this one.");
}

TEST_CASE("an option says whose it is, and that it is right; nothing while it may be changed") {
  OptionCard chosen, other;
  chosen.chosen = true;
  const auto tags = [&](const char* kind, bool open, bool room) {
    return std::string(option_tag(chosen, kind, open, room)) + "|" +
           std::string(option_tag(other, kind, open, room));
  };
  CHECK(tags("predict", true, false) == "|");
  CHECK(tags("predict", false, false) == "your guess|");
  chosen.wrong = other.right = true;
  CHECK(tags("predict", false, false) == "your guess|what happened");
  CHECK(tags("recap", false, false) == "your answer|right");
  CHECK(tags("predict", false, true) == "the room's guess|what happened");
  chosen.right = !(chosen.wrong = other.right = false);
  CHECK(tags("predict", false, false) == "your guess: right|");
  CHECK(tags("recap", false, true) == "the room's answer: right|");
}

TEST_CASE("after the run every prediction is judged, and said why") {
  REQUIRE_DRIVER(driver, 1366, 768);
  Workspace& workspace = driver->workspace();
  workspace.open_lesson(scenario::find_lesson("checkpointing"));
  driver->settle();
  for (int i = 0; i < 8 && !workspace.revealed(); ++i) {
    scenario::Progress& progress = workspace.lesson()->progress;
    progress.choose(0);  // hardly longer: it is
    progress.enter(0.5);
    progress.commit();
    for (const char* action : {"lesson.run", "lesson.next"})
      if (driver->app().can(action)) driver->app().run(action);
    driver->settle();
  }
  const LessonCard card = card_of(workspace);
  REQUIRE(card.recaps.size() == 2);
  CHECK(card.recaps[0].question.right == false);
  CHECK_THAT(card.recaps[0].explain, Contains("arithmetic"));
  CHECK_THAT(card.recaps[1].text, Contains("And its peak memory"));
  CHECK_THAT(card.recaps[1].question.verdict, Contains("The run says"));
  CHECK_THAT(card.recaps[1].explain, Contains("B's peak is"));
  keep_picture(*driver, "lesson two predictions");
  walk_to_the_task(*driver);
  CHECK(card_of(workspace).recaps.empty());
}

TEST_CASE("a task stays as it was asked while its knobs are turned") {
  REQUIRE_DRIVER(driver, 1366, 768);
  Workspace& workspace = driver->workspace();
  workspace.open_lesson(scenario::find_lesson("num-workers"));
  driver->settle();
  walk_to_the_end_of_the_run(*driver);
  walk_to_the_task(*driver);
  const std::string asked = card_of(workspace).text;
  const auto workers = workspace.sides()[0].config.whole("loader.num_workers");
  std::string on_one_line = asked;
  std::ranges::replace(on_one_line, '\n', ' ');
  CHECK_THAT(on_one_line, Contains("Go below " + std::to_string(workers)));
  workspace.set_knob(0, "loader.num_workers", workers - 1);
  driver->settle();
  CHECK(card_of(workspace).text == asked);
}

TEST_CASE("what is said of a wrong span is in sight, however much stands above it") {
  CHECK(scroll_to_show(700, 780, 0, 600) == 180);
  CHECK(scroll_to_show(100, 180, 0, 600) == 0);
  CHECK(scroll_to_show(100, 180, 300, 600) == 100);
  CHECK(scroll_to_show(500, 1500, 0, 600) == 500);
  REQUIRE_DRIVER(driver, 1366, 768);
  Workspace& workspace = driver->workspace();
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  workspace.next_step();
  workspace.lesson()->progress.choose(0);  // wrong: so much more stands on the next card
  workspace.lesson()->progress.commit();
  workspace.next_step();
  workspace.run_lesson();
  driver->settle();
  workspace.next_step();
  driver->settle();
  const auto card = [] {
    for (ImGuiWindow* window : GImGui->Windows)
      if (std::string_view(window->Name).find("##card") != std::string_view::npos) return window;
    return static_cast<ImGuiWindow*>(nullptr);
  };
  REQUIRE(card());
  CHECK(card()->Scroll.y == 0);
  const scenario::Focus& asked = *workspace.lesson()->step().question->span;
  const auto meant = scenario::find_spans(asked, *workspace.sides()[0].run);
  trace::SpanId wrong = 0;
  while (std::ranges::find(meant, wrong) != meant.end()) ++wrong;
  workspace.select_span(asked.run == "B" ? 0 : 1, wrong);
  driver->settle();
  REQUIRE_FALSE(workspace.lesson()->remark.empty());
  keep_picture(*driver, "lesson wrong span");
  CHECK((card()->ScrollMax.y == 0 || card()->Scroll.y > 0));
}

TEST_CASE("the window says of a lesson on another machine that its text need not hold") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const scenario::Lesson lesson = scenario::find_lesson("occupancy-cliff");
  driver->workspace().open_lesson(lesson);
  driver->settle();
  driver->workspace().adopt(runs_on(lesson, "t4-1"));
  walk_to_the_end_of_the_run(*driver);
  driver->app().run("lesson.next");
  driver->settle();
  driver->workspace().lesson()->progress.choose(0);
  driver->workspace().lesson()->progress.commit();
  const LessonCard card = card_of(driver->workspace());
  CHECK_THAT(card.caveat, Contains("on t4-1 it need not hold"));
  REQUIRE(card.question);
  CHECK_FALSE(card.question->decided);
  CHECK_FALSE(card.question->right);
  CHECK_THAT(card.question->verdict, Contains("has no answer here"));
  for (const OptionCard& option : card.question->options)
    CHECK_FALSE((option.right || option.wrong));
}

TEST_CASE("a lesson that does not fit into a GPU says so, and begins again on its own machine") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const scenario::Lesson lesson = scenario::find_lesson("make-gpt2-fast");
  driver->workspace().open_lesson(lesson);
  driver->settle();
  driver->workspace().adopt(runs_on(lesson, "laptop-1"));
  walk_to_the_end_of_the_run(*driver);
  driver->app().run("lesson.next");
  driver->settle();
  const LessonCard card = card_of(driver->workspace());
  CHECK(card.error.empty());
  REQUIRE(card.ending);
  CHECK(card.ending->title == "The model does not fit into this GPU");
  CHECK_THAT(card.ending->text,
             Contains("NVIDIA GeForce RTX 4060 Laptop has 7.62 GiB beside CUDA's"));
  CHECK_THAT(card.ending->text, Contains("A wants at least") && Contains("B wants at least"));
  CHECK_THAT(card.ending->text, Contains("smaller `batch_size`"));
  keep_picture(*driver, "lesson does not fit");
  REQUIRE(driver->click("//Lesson##lesson/**/Start again on a100-sxm-1"));
  CHECK(driver->workspace().sides()[0].config.word("machine") == "a100-sxm-1");
  CHECK(driver->workspace().lesson()->progress.step() == 0);
}

TEST_CASE("a hint has its numbers filled in") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->workspace().open_lesson(scenario::find_lesson("waves-and-tails"));
  driver->settle();
  walk_to_the_end_of_the_run(*driver);
  for (int i = 0; i < 8; ++i) {
    CHECK(card_of(driver->workspace()).hint.find('{') == std::string::npos);
    for (const char* action : {"lesson.skip", "lesson.next"})
      if (driver->app().can(action)) driver->app().run(action);
    driver->settle();
  }
}
