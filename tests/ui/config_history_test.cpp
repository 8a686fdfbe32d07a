// Undo and redo of what was turned.
#include "ui/app/workspace/config_history.h"

#include <catch2/catch.hpp>
#include <random>

#include "ui/idle.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

ConfigHistory::State with_count(std::int64_t count) {
  program::Config config;
  config.set("copy.count", count);
  return {config};
}

std::int64_t count_of(const ConfigHistory::State& state) {
  return state.front().whole("copy.count");
}

void run_first_lesson(Workspace& workspace) {
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  workspace.next_step();
  workspace.lesson()->progress.choose(0);
  workspace.lesson()->progress.commit();
  workspace.next_step();
  workspace.run_lesson();
  wait_until_idle(workspace);
  REQUIRE(workspace.revealed());
}

}  // namespace

TEST_CASE("undo goes back change by change, and redo the same way forward") {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    ConfigHistory history;
    std::vector<std::int64_t> values{1};
    for (int i = 0; i < 30; ++i) {
      history.remember(with_count(values.back()), "knob " + std::to_string(i));
      values.push_back(static_cast<std::int64_t>(2 + random() % 1000));
    }
    std::size_t at = values.size() - 1;
    for (int i = 0; i < 100; ++i) {
      const bool back = random() % 2 == 0;
      REQUIRE(history.can_undo() == (at > 0));
      REQUIRE(history.can_redo() == (at + 1 < values.size()));
      const auto there =
          back ? history.undo(with_count(values[at])) : history.redo(with_count(values[at]));
      REQUIRE(there.has_value() == (back ? at > 0 : at + 1 < values.size()));
      if (!there) continue;
      at = back ? at - 1 : at + 1;
      REQUIRE(count_of(*there) == values[at]);
    }
  }
}

TEST_CASE("a slider that is dragged is one change, and a new change ends what could be redone") {
  ConfigHistory history;
  for (std::int64_t i = 1; i < 40; ++i) history.remember(with_count(i), "A.copy.count");
  CHECK(count_of(*history.undo(with_count(40))) == 1);
  CHECK_FALSE(history.can_undo());
  CHECK(count_of(*history.redo(with_count(1))) == 40);
  history.undo(with_count(40));
  history.remember(with_count(1), "A.copy.count");
  CHECK_FALSE(history.can_redo());
  CHECK(history.can_undo());
}

TEST_CASE("what was turned in a lesson is taken back, down to the lesson's own run") {
  Workspace workspace([] {});
  run_first_lesson(workspace);
  CHECK_FALSE(workspace.can_undo());
  const std::int64_t own = workspace.sides()[0].config.whole("copy.count");
  workspace.set_knob(0, "copy.count", own + 1);
  workspace.set_knob(0, "copy.count", own + 2);
  workspace.set_knob(1, "copy.count", own + 3);
  workspace.undo();
  CHECK(workspace.sides()[1].config.whole("copy.count") == own);
  CHECK(workspace.sides()[0].config.whole("copy.count") == own + 2);
  workspace.undo();
  CHECK_FALSE(workspace.can_undo());
  CHECK(workspace.sides()[0].run == workspace.lesson()->as_run[0].run);
  workspace.redo();
  wait_until_idle(workspace);
  CHECK(workspace.sides()[0].run->config.whole("copy.count") == own + 2);
  workspace.reset_knobs();
  CHECK(workspace.sides()[0].config.whole("copy.count") == own);
  workspace.undo();
  CHECK(workspace.sides()[0].config.whole("copy.count") == own + 2);
}

TEST_CASE("exploring has a history of its own, and a step begins without one") {
  Workspace workspace([] {});
  run_first_lesson(workspace);
  const std::int64_t own = workspace.sides()[0].config.whole("copy.count");
  workspace.set_knob(0, "copy.count", own + 1);
  wait_until_idle(workspace);
  workspace.explore();
  CHECK_FALSE(workspace.can_undo());
  workspace.set_knob(0, "copy.count", own + 7);
  CHECK(workspace.can_undo());
  workspace.return_to_lesson();
  CHECK(workspace.can_undo());
  workspace.undo();
  CHECK(workspace.sides()[0].config.whole("copy.count") == own);
  workspace.set_knob(0, "copy.count", own + 1);
  workspace.next_step();
  CHECK_FALSE(workspace.can_undo());
  CHECK_FALSE(workspace.can_redo());
}
