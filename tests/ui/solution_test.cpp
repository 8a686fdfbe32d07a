// Being shown how a task of turning knobs is done.
#include <algorithm>
#include <catch2/catch.hpp>

#include "scenario/grade.h"
#include "ui/app/lesson/lesson_answers.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

constexpr const char* kShowMe = "//Lesson##lesson/**/Show me";

// Goes to a step, skipping what is asked on the way.
void go_to(Driver& driver, const char* lesson, const char* step) {
  driver.open_revealed(lesson);
  scenario::Progress& progress = driver.workspace().lesson()->progress;
  while (driver.workspace().lesson()->step().id != step) {
    if (!progress.can_go_on()) progress.skip();
    REQUIRE(progress.step() + 1 < progress.steps());
    driver.app().run("lesson.next");
    driver.settle();
  }
  driver.settle();
}

std::int64_t bytes_of(const Workspace& workspace, std::size_t side) {
  return workspace.sides()[side].config.whole("copy.bytes");
}

bool is_reached(const Workspace& workspace) {
  return card_of(workspace).goal_reached;
}

// What the answers given so far are worth on a task.
scenario::Mark mark_of(const Workspace& workspace, const char* step) {
  const scenario::Grade grade = scenario::Grader().grade(
      answers_of(*workspace.lesson(), workspace.opened_with(), workspace.record.student()));
  const auto mark = std::ranges::find(grade.marks, step, &scenario::Mark::step);
  REQUIRE(mark != grade.marks.end());
  return *mark;
}

}  // namespace

TEST_CASE("after a wrong try one click sets the knobs of both sides as the task wants them") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "pinned-vs-pageable", "vary");
  Workspace& workspace = driver->workspace();
  workspace.set_knob(0, "copy.count", program::Value(std::int64_t{9}));
  workspace.set_knob(1, "copy.bytes", program::Value(std::int64_t{32 << 20}));
  driver->settle();
  CHECK_FALSE(is_reached(workspace));
  REQUIRE(driver->click(kShowMe));
  CHECK(bytes_of(workspace, 0) == 4096);
  CHECK(bytes_of(workspace, 1) == 4096);
  CHECK(workspace.sides()[0].config.whole("copy.count") == 3);  // as the lesson has it
  CHECK(is_reached(workspace));
  CHECK_FALSE(card_of(workspace).explain.empty());
  CHECK(driver->app().attention().lit_knob == "copy.bytes");
  keep_picture(*driver, "a solution");
  driver->app().run("knobs.undo");
  driver->settle();
  CHECK(bytes_of(workspace, 1) == 32 << 20);
  CHECK(workspace.sides()[0].config.whole("copy.count") == 9);
  CHECK_FALSE(is_reached(workspace));
}

TEST_CASE("being shown is not finding, and what was found before counts") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "pinned-vs-pageable", "vary");
  Workspace& workspace = driver->workspace();
  REQUIRE(driver->click(kShowMe));
  REQUIRE(is_reached(workspace));
  workspace.next_step();
  driver->settle();
  CHECK(bytes_of(workspace, 0) == 64 << 20);
  CHECK(mark_of(workspace, "vary").mark == scenario::MarkKind::kSkipped);

  workspace.restart_lesson();
  driver->settle();
  go_to(*driver, "pinned-vs-pageable", "vary");
  for (const std::size_t side : {0U, 1U})
    workspace.set_knob(side, "copy.bytes", program::Value(std::int64_t{2048}));
  driver->settle();
  REQUIRE(is_reached(workspace));
  REQUIRE(driver->click(kShowMe));
  CHECK(bytes_of(workspace, 0) == 4096);
  workspace.next_step();
  driver->settle();
  CHECK(mark_of(workspace, "vary").mark == scenario::MarkKind::kRight);
}

TEST_CASE("a task whose step points at nothing is shown, too") {
  REQUIRE_DRIVER(driver, 1366, 768);
  go_to(*driver, "amp-loss-scale", "broken-batches");
  Workspace& workspace = driver->workspace();
  REQUIRE_FALSE(workspace.lesson()->step().focus);
  REQUIRE(driver->click(kShowMe));
  CHECK(is_reached(workspace));
  CHECK(workspace.notice.empty());
}
