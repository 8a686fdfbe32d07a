// A window that nobody touches stands still: no layout that changes its own measure from one frame
// to the next.
#include <imgui_internal.h>

#include <catch2/catch.hpp>
#include <string>

#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// Everything that the finished frame draws, as bytes.
std::string drawn() {
  std::string bytes;
  for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists)
    bytes.append(reinterpret_cast<const char*>(list->VtxBuffer.Data),
                 list->VtxBuffer.size() * sizeof(ImDrawVert));
  return bytes;
}

void check_it_stands_still(Driver& driver) {
  driver.settle();
  driver.frame();
  const std::string first = drawn();
  REQUIRE(first.size() > 10000);
  for (int i = 0; i < 3; ++i) {
    driver.frame();
    CHECK((drawn() == first));
  }
}

void check_each_step(Driver& driver, const scenario::Lesson& lesson) {
  Workspace& workspace = driver.workspace();
  workspace.open_lesson(lesson);
  driver.settle();
  for (std::size_t step = 0; step < lesson.steps.size(); ++step) {
    INFO(lesson.id << ", step " << step + 1);
    REQUIRE(workspace.lesson()->progress.step() == step);
    check_it_stands_still(driver);
    if (driver.app().can("lesson.skip")) driver.app().run("lesson.skip");
    if (driver.app().can("lesson.run")) driver.app().run("lesson.run");
    driver.settle();
    driver.app().run("lesson.next");
  }
}

}  // namespace

TEST_CASE("the measure of a still window sees one that changes") {
  REQUIRE_DRIVER(driver);
  driver->settle();
  driver->frame();
  const std::string before = drawn();
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->frame();
  CHECK((drawn() != before));
}

TEST_CASE("every step of every lesson stands still, in small and in large type") {
  for (const ThemeMode mode : {ThemeMode::kLight, ThemeMode::kProjector}) {
    REQUIRE_DRIVER(driver, 1280, 720);
    driver->app().set_theme(mode);
    for (const scenario::Lesson& lesson : scenario::all_lessons()) {
      INFO(name_of(mode));
      check_each_step(*driver, lesson);
    }
  }
}

TEST_CASE(
    "a lesson that has settled has its listings, also after a run that was cancelled at once") {
  REQUIRE_DRIVER(driver);
  Workspace& workspace = driver->workspace();
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    INFO(lesson.id);
    workspace.open_lesson(lesson);
    workspace.run_lesson();
    workspace.cancel();
    driver->settle();
    for (const SideModel& side : workspace.sides()) {
      REQUIRE(side.outline);
      CHECK(side.outline->listing.lines.size() > 3);
    }
    CHECK_FALSE(workspace.lesson()->progress.revealed());
  }
}

TEST_CASE("a lesson's panels stand still at any height of the window") {
  for (int height = 480; height <= 900; height += 20) {
    REQUIRE_DRIVER(driver, 1280, height);
    driver->app().set_theme(ThemeMode::kProjector);
    walk_to_result(*driver, "pinned-vs-pageable");
    INFO("height " << height);
    check_it_stands_still(*driver);
  }
}
