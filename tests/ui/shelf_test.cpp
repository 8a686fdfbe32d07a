// Looking for a lesson, on the shelf and by "Find an action".
#include "ui/panels/sheets/shelf.h"

#include <catch2/catch.hpp>
#include <string>

#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

bool shows(Driver& driver, const std::string& lesson) {
  bool found = false;
  REQUIRE(driver.act([&](ImGuiTestContext* context) {
    found = context->ItemExists(("//##shelf/" + lesson + "/lesson").c_str());
  }));
  return found;
}

}  // namespace

TEST_CASE("whoever types on the shelf sees the lessons that are about it, and Enter opens one") {
  REQUIRE_DRIVER(driver, 1400, 1000);
  driver->settle();
  CHECK(shows(*driver, "anatomy-of-a-step"));
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyChars("fsdp");
    context->Yield(3);
  }));
  keep_picture(*driver, "shelf searched");
  CHECK(shows(*driver, "zero-stages"));
  CHECK_FALSE(shows(*driver, "anatomy-of-a-step"));
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Enter); }));
  REQUIRE(driver->workspace().lesson());
  REQUIRE(driver->act(
      [](ImGuiTestContext* context) { context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_L); }));
  CHECK(shows(*driver, "anatomy-of-a-step"));
}

TEST_CASE("pointing at a lesson on the shelf says what it requires") {
  REQUIRE_DRIVER(driver, 1400, 1000);
  driver->settle();
  const auto told = [&](const std::string& lesson) {
    bool shown = false;
    REQUIRE(driver->act([&](ImGuiTestContext* context) {
      context->MouseMove(("//##shelf/" + lesson + "/lesson").c_str());
      context->SleepNoSkip(1.0F, 0.05F);
      const ImGuiWindow* tooltip = ImGui::FindWindowByName("##Tooltip_00");
      shown = tooltip && tooltip->Active;
    }));
    return shown;
  };
  CHECK_FALSE(told("anatomy-of-a-step"));
  CHECK(told("time-it-right"));
}

TEST_CASE("Escape shows the whole shelf again") {
  REQUIRE_DRIVER(driver, 1400, 1000);
  driver->settle();
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyChars("qqqq");
    context->Yield(3);
  }));
  CHECK_FALSE(shows(*driver, "anatomy-of-a-step"));
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Escape); }));
  CHECK(shows(*driver, "anatomy-of-a-step"));
}

TEST_CASE("a lesson is opened by its subject from anywhere") {
  REQUIRE_DRIVER(driver, 1366, 768);
  driver->open_revealed("pinned-vs-pageable");
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
    context->Yield(2);
    context->KeyChars("fsdp");
    context->Yield(2);
    context->KeyPress(ImGuiKey_Enter);
  }));
  REQUIRE(driver->workspace().lesson());
  CHECK(driver->workspace().lesson()->lesson.id != "pinned-vs-pageable");
}
