// A task that asks for the least of a knob, in the window.
#include <catch2/catch.hpp>
#include <utility>

#include "scenario/lesson.h"
#include "ui/app/lesson/lesson_card.h"
#include "ui/idle.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// num-workers on the step that asks for the fewest that do.
void open_task(Workspace& workspace,
               scenario::Lesson lesson = scenario::find_lesson("num-workers")) {
  workspace.open_lesson(std::move(lesson));
  workspace.next_step();
  workspace.lesson()->progress.choose(0);
  workspace.lesson()->progress.commit();
  workspace.next_step();
  workspace.run_lesson();
  wait_until_idle(workspace);
  while (workspace.lesson()->step().kind != scenario::StepKind::kVary) {
    workspace.skip_question();
    workspace.next_step();
  }
}

void wait_until_weighed(Workspace& workspace) {
  wait_until_idle(workspace);
  REQUIRE(wait_for(workspace, [&] { return !workspace.busy() && !workspace.further_busy(); }));
}

std::string goal_with(Workspace& workspace, std::int64_t workers) {
  workspace.set_knob(0, "loader.num_workers", program::Value(workers));
  wait_until_weighed(workspace);
  return card_of(workspace).goal;
}

}  // namespace

TEST_CASE("a task that asks for the least is reached with it alone") {
  Workspace workspace([] {});
  open_task(workspace);
  wait_until_weighed(workspace);
  CHECK(card_of(workspace).goal == "That does, and less would do, too.");
  CHECK(goal_with(workspace, 5) == "That does, and less would do, too.");
  CHECK_FALSE(card_of(workspace).goal_reached);
  CHECK(card_of(workspace).explain.empty());
  CHECK(goal_with(workspace, 2) == "Not there yet.");
  CHECK(goal_with(workspace, 3) == "Reached.");
  CHECK(card_of(workspace).goal_reached);
  CHECK_FALSE(card_of(workspace).explain.empty());
  workspace.next_step();
  CHECK(workspace.lesson()->noted.find("vary")->reached);
}

TEST_CASE("who goes on with more than the least has not reached it") {
  Workspace workspace([] {});
  open_task(workspace);
  workspace.set_knob(0, "loader.num_workers", std::int64_t{5});
  wait_until_idle(workspace);
  workspace.next_step();  // while that is still being found out, or not
  CHECK_FALSE(workspace.lesson()->noted.find("vary")->reached);
}

TEST_CASE("what is shown is the least with the knobs that there are") {
  for (const auto& [batch, workers] : {std::pair{384, 3}, {192, 2}}) {
    Workspace workspace([] {});
    scenario::Lesson lesson = scenario::find_lesson("num-workers");
    lesson.common.set("batch_size", std::int64_t{batch});
    open_task(workspace, std::move(lesson));
    workspace.solve();
    CHECK(workspace.solving());  // beside the window, which goes on
    CHECK(card_of(workspace).goal == "Looking for the smallest value that will do.");
    wait_until_weighed(workspace);
    CHECK(workspace.sides()[0].config.whole("loader.num_workers") == workers);
    CHECK(card_of(workspace).goal_reached);
  }
}
