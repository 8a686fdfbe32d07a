// The tour: its cards, and the walk through them by keys.
#include "ui/app/lesson/tour.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "ui/app/window/settings.h"
#include "ui/cut_text.h"
#include "ui/driver.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("the tour is read within a minute") {
  int words = 0;
  for (const TourCard& card : tour_cards()) {
    std::istringstream text(card.title + " " + card.text);
    for (std::string word; text >> word;) ++words;
  }
  CHECK(tour_cards().size() <= 5);
  CHECK(words < 180);  // read on a screen in a minute
}

TEST_CASE("a card of the tour stands beside what it is about, and always in the window") {
  const Box room{{0, 0}, {1280, 720}};
  const ImVec2 size{380, 190};
  const Box left{{10, 50}, {300, 700}}, right{{1000, 50}, {1270, 700}}, wide{{0, 50}, {1280, 300}};
  CHECK(place_card(left, size, room, 12).x >= left.max.x);
  CHECK(place_card(right, size, room, 12).x + size.x <= right.min.x);
  CHECK(place_card(wide, size, room, 12).y >= wide.max.y);
  for (const Box& target : {left, right, wide, room, Box{{1200, 10}, {1270, 40}}}) {
    const ImVec2 at = place_card(target, size, room, 12);
    CHECK(at.x >= 0);
    CHECK(at.y >= 0);
    CHECK(at.x + size.x <= room.max.x);
    CHECK(at.y + size.y <= room.max.y);
  }
}

TEST_CASE("the tour goes on with Enter, back with the arrow, and is over after its last card") {
  REQUIRE_DRIVER(driver, 1280, 720);
  CHECK_FALSE(driver->app().tour().open);
  driver->settle();
  driver->app().run("help.tour");
  driver->settle();
  REQUIRE(driver->app().tour().open);
  // There is something to point at.
  REQUIRE(driver->workspace().lesson());
  const auto key = [&](ImGuiKey which) {
    return driver->act([which](ImGuiTestContext* context) { context->KeyPress(which); });
  };
  REQUIRE(key(ImGuiKey_Enter));
  CHECK(driver->app().tour().card == 1);
  REQUIRE(key(ImGuiKey_LeftArrow));
  CHECK(driver->app().tour().card == 0);
  for (std::size_t card = 0; card < tour_cards().size(); ++card) {
    CHECK(driver->app().tour().card == card);
    CAPTURE(tour_cards()[card].title);
    CHECK(cut_text(*ImGui::GetDrawData()).empty());
    REQUIRE(key(ImGuiKey_Enter));
  }
  CHECK_FALSE(driver->app().tour().open);
  CHECK(driver->workspace().lesson()->progress.step() == 0);
}

TEST_CASE("Escape ends the tour, and keys mean their actions again") {
  REQUIRE_DRIVER(driver);
  driver->open_revealed("pinned-vs-pageable");
  driver->app().run("help.tour");
  driver->settle();
  const std::size_t step = driver->workspace().lesson()->progress.step();
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_B); }));
  CHECK(driver->workspace().lesson()->progress.step() == step);
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Escape); }));
  CHECK_FALSE(driver->app().tour().open);
  REQUIRE(driver->act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_B); }));
  CHECK(driver->workspace().lesson()->progress.step() == step - 1);
}

TEST_CASE("the tour is due at the first start alone") {
  CHECK_FALSE(read_settings("").toured);
  CHECK(read_settings("theme dark\n").toured);
  Settings settings;
  CHECK_FALSE(read_settings(write_settings(settings)).toured);
  settings.toured = true;
  settings.language = "de";
  CHECK(read_settings(write_settings(settings)).toured);
  CHECK(read_settings(write_settings(settings)).language == "de");
}
