#include <catch2/catch.hpp>
#include <set>

#include "ui/app/actions/action_list.h"
#include "ui/app/actions/action_table.h"
#include "ui/app/actions/shortcuts.h"
#include "ui/panels/sheets/palette.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("every action does something, and nothing is done that is no action") {
  std::set<std::string_view> listed;
  for (const ActionInfo& action : actions()) {
    CAPTURE(action.id);
    CHECK(find_binding(action.id));
    CHECK_FALSE(action.label.empty());
    CHECK_FALSE(action.help.empty());
    CHECK(listed.insert(action.id).second);
  }
  for (const Binding& binding : bindings()) {
    CAPTURE(binding.id);
    CHECK(find_action(binding.id));
  }
}

// Escape leaves what was entered last: the timelines' tools before a question of one's own.
TEST_CASE("shortcuts can be read and are each one action's") {
  std::set<std::string> taken;
  for (const ActionInfo& action : actions()) {
    if (action.shortcut.empty()) continue;
    CAPTURE(action.id, action.shortcut);
    CHECK(is_readable(action.shortcut));
    if (action.id != "timeline.leave") CHECK(taken.insert(action.shortcut).second);
  }
}

TEST_CASE("no action has a key that moves the timelines under the mouse") {
  for (const ActionInfo& action : actions())
    for (const char* key : {"W", "A", "S", "D"}) CHECK(action.shortcut != key);
}

TEST_CASE("a lesson is found by its subject, after what is called so") {
  const std::vector<scenario::Lesson> lessons = scenario::all_lessons();
  const auto found = matching_lessons(lessons, "fsdp");
  REQUIRE_FALSE(found.empty());
  CHECK(found.front().id.starts_with(kOpenLesson));
  const auto list = matching_actions("fsdp", {}, found);
  REQUIRE(list.size() >= found.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(list[i] == &found[i]);
  const auto about_memory = matching_lessons(lessons, "memory");
  REQUIRE_FALSE(about_memory.empty());
  CHECK(matching_actions("memory", {}, about_memory).front()->id == "view.memory_lanes");
}

TEST_CASE("a few letters find an action") {
  REQUIRE_FALSE(matching_actions("fit").empty());
  CHECK(matching_actions("fit").front()->id == "view.fit");
  CHECK(matching_actions("").size() == actions().size());
  CHECK(matching_actions("qqqqzzzz").empty());
}
