// The copy path in the window: opened by name, at the playhead, silent before the reveal.
#include <catch2/catch.hpp>

#include "ui/app/window/layout.h"
#include "ui/app/window/shapes.h"
#include "ui/driver.h"
#include "ui/panels/timelines/timelines.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

std::vector<std::uint8_t> picture_of(Driver& driver) {
  driver.settle();
  return driver.window().capture().rgba;
}

}  // namespace

TEST_CASE("the copy path stands behind the comparison and comes to the front by its tab") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  CHECK(is_in_front(kComparePanel));
  CHECK_FALSE(is_in_front(kCopyPathPanel));
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//Compare##pair/tab Copy path"); }));
  CHECK(is_in_front(kCopyPathPanel));
  CHECK_FALSE(is_in_front(kComparePanel));
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->ItemClick("//Copy path##pair/tab Compare"); }));
  CHECK(is_in_front(kComparePanel));
}

TEST_CASE("the action opens the copy path, also when it was closed") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("layout.copy_path");
  driver->settle();
  CHECK(is_in_front(kCopyPathPanel));
  REQUIRE(driver->click("//Copy path##pair/##close"));
  CHECK_FALSE(driver->app().deck().shown.copy_path);
  CHECK(is_in_front(kComparePanel));
  driver->app().run("layout.copy_path");
  driver->settle();
  driver->settle();
  CHECK(driver->app().deck().shown.copy_path);
  CHECK(is_in_front(kCopyPathPanel));
}

TEST_CASE("a lesson can point at the copy path") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  scenario::Focus focus;
  focus.panel = "copy-path";
  CHECK(show_focus(focus, driver->workspace(), driver->app().attention(), false));
  driver->settle();
  CHECK(is_in_front(kCopyPathPanel));
  focus.panel = "copy path";
  CHECK_FALSE(show_focus(focus, driver->workspace(), driver->app().attention(), false));
}

TEST_CASE("the copy path follows the playhead") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("layout.copy_path");
  const auto before = picture_of(*driver);
  driver->workspace().playhead.time = end_of_sides(driver->workspace()) / 5;
  CHECK(picture_of(*driver) != before);
}

TEST_CASE("before the reveal the copy path is the same whatever is going to run") {
  REQUIRE_DRIVER(driver);
  const auto path_before = [&](const char* flag) {
    scenario::Lesson lesson = scenario::find_lesson("pinned-vs-pageable");
    lesson.common.set_text(flag);
    driver->workspace().open_lesson(std::move(lesson));
    driver->settle();
    driver->app().run("layout.copy_path");
    driver->settle();
    const Picture picture = driver->window().capture();
    // The panel's part of the window: the listing above it says how many bytes are copied.
    const auto rows = static_cast<std::size_t>(picture.height) * 4 / 5;
    return std::vector<std::uint8_t>(
        picture.rgba.begin() +
            static_cast<std::ptrdiff_t>(rows * static_cast<std::size_t>(picture.width) * 4),
        picture.rgba.end());
  };
  CHECK((path_before("copy.bytes=4096") == path_before("copy.bytes=67108864")));
}

TEST_CASE("every shipped lesson draws its copy path at every time") {
  REQUIRE_DRIVER(driver);
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    INFO(lesson.id);
    driver->open_revealed(lesson.id.c_str());
    driver->app().run("layout.copy_path");
    driver->settle();
    CHECK(is_in_front(kCopyPathPanel));
    for (int i = 0; i <= 8; ++i) {
      driver->workspace().playhead.time = end_of_sides(driver->workspace()) * i / 8;
      driver->settle();
    }
  }
}
