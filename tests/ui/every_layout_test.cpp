// The layouts - a lesson, two runs to compare, a lesson in front of a room - on the screens and at
// the scales that people have.
#include <imgui_internal.h>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "ui/app/window/layout.h"
#include "ui/long_words.h"
#include "ui/monitors.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void check_layouts(Driver& driver, const std::string& where) {
  walk_to_result(driver, "dp-vs-ddp");
  check_words(driver, where + " lesson");
  driver.app().set_present(true);
  driver.workspace().present.reveal_all();
  check_words(driver, where + " present");
  driver.app().set_present(false);
  open_trainings(driver);
  check_words(driver, where + " compare");
  driver.workspace().show_shelf();
  check_words(driver, where + " shelf");
}

}  // namespace

TEST_CASE("no layout cuts or covers a word on any screen at any scale") {
  for (const Monitor screen : kMonitors) {
    REQUIRE_DRIVER(driver, screen.width, screen.height);
    for (const float scale : kScales) {
      driver->app().set_zoom(scale);
      check_layouts(*driver, fmt::format("{}x{} at {}", screen.width, screen.height, scale));
    }
  }
}

TEST_CASE("no layout cuts or covers words twice as long on any screen") {
  for (const Monitor screen : kMonitors) {
    REQUIRE_DRIVER(driver, screen.width, screen.height);
    make_words_long(make_theme(ThemeMode::kDark, 1));
    check_layouts(*driver, fmt::format("{}x{} long", screen.width, screen.height));
  }
}

TEST_CASE("in a window of 320 by 240 one panel at a time is shown, whole, and any can be chosen") {
  REQUIRE_DRIVER(driver, 320, 240);
  check_layouts(*driver, "320x240");
  walk_to_result(*driver, "dp-vs-ddp");
  CHECK(driver->app().deck().room() == Room::kTiny);
  CHECK(is_in_front(kLessonPanel));
  // By position: to click an item by its name the engine brings another panel forward.
  const ImVec2 title = ImGui::FindWindowByName(kLessonPanel)->Pos;
  REQUIRE(driver->act([title](ImGuiTestContext* context) {
    context->MouseMoveToPos({title.x + 30, title.y + 14});
    context->MouseClick(0);
    context->Yield(2);
    context->ItemClick("//$FOCUSED/Timelines");
  }));
  CHECK(is_in_front(kTimelinesPanel));
  CHECK_FALSE(is_in_front(kLessonPanel));
  for (const char* panel : {"compare", "knobs", "code", "gradient-flow"}) {
    driver->app().show_panel(panel);
    check_words(*driver, std::string("320x240 ") + panel);
  }
}
