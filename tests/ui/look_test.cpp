// Themes, scales and sizes of the window: whatever a person chooses, words are whole.
#include <imgui_internal.h>

#include <array>
#include <catch2/catch.hpp>

#include "ui/app/window/settings.h"
#include "ui/panels/timelines/timelines.h"
#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

TEST_CASE("the measure of cut words finds one that is cut, and none that is whole") {
  REQUIRE_DRIVER(driver);
  for (const bool cut : {false, true}) {
    driver->window().wait();
    driver->window().begin_frame();
    ImDrawList* draw = ImGui::GetForegroundDrawList();
    // Through the middle of the w.
    const float through = ImGui::CalcTextSize("whole ").x + ImGui::CalcTextSize("w").x / 2;
    draw->PushClipRect({10, 10}, {12 + (cut ? through : 200), 60});
    draw->AddText({12, 12}, IM_COL32_WHITE, "whole words");
    draw->PopClipRect();
    driver->window().end_frame();
    CHECK(letters(*ImGui::GetDrawData()) == (cut ? 6 : 10));
    CHECK(cut_text(*ImGui::GetDrawData()).empty() != cut);
  }
}

TEST_CASE("the measure of words on top of each other finds a pair, and no pair of neighbours") {
  REQUIRE_DRIVER(driver);
  for (const float below : {30.0F, 6.0F}) {
    driver->window().wait();
    driver->window().begin_frame();
    ImDrawList* draw = ImGui::GetForegroundDrawList();
    draw->AddText({12, 12}, IM_COL32_WHITE, "one thing");
    draw->AddText({12 + ImGui::CalcTextSize("one thing").x + 1, 12}, IM_COL32_WHITE, "beside");
    draw->AddText({20, 12 + below}, IM_COL32_WHITE, "another");
    driver->window().end_frame();
    CHECK(overlapping_text(*ImGui::GetDrawData()).size() == (below < 10 ? 1 : 0));
  }
}

TEST_CASE("no word is cut on any lesson's result in any theme on a small screen") {
  REQUIRE_DRIVER(driver, 1366, 768);
  for (const scenario::Lesson& lesson : scenario::all_lessons()) {
    walk_to_result(*driver, lesson.id);
    for (const ThemeMode mode : kThemeModes) {
      driver->app().set_theme(mode);
      driver->settle();
      INFO(lesson.id << ", " << name_of(mode));
      check_words_are_whole();
      check_words_are_apart();
    }
  }
}

TEST_CASE("no word is cut on a large screen, nor at any scale, nor in any of the panels below") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  walk_to_result(*driver, "num-workers");
  for (const ThemeMode mode : kThemeModes) {
    driver->app().set_theme(mode);
    driver->settle();
    INFO(name_of(mode));
    check_words_are_whole();
    check_words_are_apart();
  }
  driver->app().set_theme(ThemeMode::kDark);
  for (const float zoom : {0.75F, 1.5F, 2.0F}) {
    driver->app().set_zoom(zoom);
    driver->settle();
    for (const char* panel :
         {kComparePanel, kDifferencePanel, kCopyPathPanel, kKnobsPanel, kCodePanel}) {
      if (!ImGui::FindWindowByName(panel)) continue;  // a part of another at this scale
      show_tab(panel);
      driver->settle();
      INFO("at " << zoom << ", panel " << panel);
      CHECK(is_in_front(panel) == ImGui::FindWindowByName(panel)->WasActive);
      check_words_are_whole();
      check_words_are_apart();
    }
  }
}

TEST_CASE("the theme is chosen by its action, and the window's ground follows") {
  REQUIRE_DRIVER(driver);
  driver->settle();
  const auto ground = [&] {
    const Picture picture = driver->window().capture();
    // Beside the shelf's cards, below the bar.
    const std::size_t at = 4 * (700 * static_cast<std::size_t>(picture.width) + 6);
    return rgb(static_cast<std::uint32_t>(picture.rgba[at]) << 16 |
               static_cast<std::uint32_t>(picture.rgba[at + 1]) << 8 | picture.rgba[at + 2]);
  };
  for (const auto& [action, mode] :
       {std::pair{"theme.projector", ThemeMode::kProjector},
        std::pair{"theme.light", ThemeMode::kLight}, std::pair{"theme.dark", ThemeMode::kDark}}) {
    REQUIRE(driver->app().can(action));
    driver->app().run(action);
    driver->settle();
    CHECK(driver->app().theme_mode() == mode);
    CHECK(std::uint32_t{ground()} == std::uint32_t{make_theme(mode, 1).ground});
  }
  REQUIRE(driver->act([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
    context->Yield(3);
    context->KeyCharsAppend("projector");
    context->Yield(2);
    context->KeyPress(ImGuiKey_Enter);
  }));
  CHECK(driver->app().theme_mode() == ThemeMode::kProjector);
}

TEST_CASE("Ctrl with plus, minus and 0 makes everything larger, smaller, and as it was") {
  REQUIRE_DRIVER(driver);
  driver->settle();
  const auto press = [&](ImGuiKey key) {
    REQUIRE(
        driver->act([key](ImGuiTestContext* context) { context->KeyPress(ImGuiMod_Ctrl | key); }));
  };
  press(ImGuiKey_Equal);
  CHECK(driver->app().zoom() == Approx(larger_zoom(1)));
  press(ImGuiKey_Minus);
  press(ImGuiKey_Minus);
  CHECK(driver->app().zoom() == Approx(smaller_zoom(1)));
  press(ImGuiKey_0);
  CHECK(driver->app().zoom() == 1);
  driver->app().run("scale.larger");
  driver->settle();
  CHECK(ImGui::GetStyle().FramePadding.y == Approx(6 * larger_zoom(1)));
  CHECK(ImGui::GetStyle().FontSizeBase ==
        Approx(make_theme(ThemeMode::kDark, larger_zoom(1)).size.text));
  for (int i = 0; i < 20; ++i) driver->app().run("scale.larger");
  CHECK(driver->app().zoom() == kMostZoom);
  CHECK_FALSE(driver->app().can("scale.larger"));
}

TEST_CASE("panels come closer where there is little room, and go back where there is more") {
  REQUIRE_DRIVER(driver, 1366, 768);
  walk_to_result(*driver, "pinned-vs-pageable");
  CHECK(driver->app().deck().room() == Room::kWide);
  REQUIRE(is_in_front(kKnobsPanel));
  driver->app().run("theme.projector");
  driver->settle();
  CHECK(driver->app().deck().room() == Room::kClose);
  CHECK(is_in_front(kComparePanel));
  CHECK_FALSE(is_in_front(kKnobsPanel));
  REQUIRE(driver->click("//Compare##pair/tab Knobs"));
  CHECK(is_in_front(kKnobsPanel));
  REQUIRE(driver->click("//Knobs##pair/tab Difference"));
  CHECK(is_in_front(kDifferencePanel));
  CHECK_FALSE(is_in_front(kComparePanel));
  driver->app().run("theme.dark");
  driver->settle();
  CHECK(is_in_front(kKnobsPanel));
  CHECK(is_in_front(kComparePanel));
  CHECK(is_in_front(kCodePanel));
}

TEST_CASE("panels that lessons, rooms and pairs share stand in their place in each") {
  REQUIRE_DRIVER(driver, 1366, 768);
  walk_to_result(*driver, "pinned-vs-pageable");
  const auto place = [](const char* panel) {
    const ImGuiWindow* window = ImGui::FindWindowByName(panel);
    REQUIRE(window);
    return std::array{window->Pos.x, window->Pos.y, window->Size.x, window->Size.y};
  };
  const auto lesson = place(kLessonPanel), timelines = place(kTimelinesPanel);
  driver->app().set_present(true);
  driver->settle();
  driver->app().set_present(false);
  open_trainings(*driver);
  CHECK(place(kTimelinesPanel) != timelines);
  walk_to_result(*driver, "pinned-vs-pageable");
  CHECK(place(kLessonPanel) == lesson);
  CHECK(place(kTimelinesPanel) == timelines);
  CHECK(is_in_front(kTimelinesPanel));
}

TEST_CASE(
    "where panels share a place, a lesson, an action and a chosen span bring theirs forward") {
  REQUIRE_DRIVER(driver, 1366, 768);
  walk_to_result(*driver, "pinned-vs-pageable");
  driver->app().run("theme.projector");
  driver->settle();
  REQUIRE(driver->app().deck().room() == Room::kClose);
  const auto point_at = [&](const scenario::Focus& focus) {
    REQUIRE(show_focus(focus, driver->workspace(), driver->app().attention(), false));
    driver->settle();
  };
  scenario::Focus focus;
  focus.knob = "copy.memory";
  point_at(focus);
  CHECK(is_in_front(kKnobsPanel));
  focus = {};
  focus.run = std::string(1, 'B');
  focus.line = 1;
  point_at(focus);
  CHECK(is_in_front(kCodePanel));
  for (const auto& [name, window] :
       {std::pair{"compare", kComparePanel}, std::pair{"knobs", kKnobsPanel},
        std::pair{"copy-path", kCopyPathPanel}, std::pair{"code", kCodePanel}}) {
    focus = {};
    focus.panel = name;
    point_at(focus);
    CHECK(is_in_front(window));
    CHECK(is_in_front(kLessonPanel));
    CHECK(is_in_front(kTimelinesPanel));
  }
  for (const auto& [action, window] :
       {std::pair{"layout.knobs", kKnobsPanel}, std::pair{"layout.compare", kComparePanel},
        std::pair{"layout.code", kCodePanel}, std::pair{"layout.copy_path", kCopyPathPanel}}) {
    driver->app().run(action);
    driver->settle();
    CHECK(is_in_front(window));
  }
  // A chosen span shows its details, and does not open a panel that was closed.
  driver->app().deck().shown.code = false;
  driver->app().attention().tab_to_show = "code";
  driver->settle();
  CHECK(is_in_front(kCopyPathPanel));
  CHECK_FALSE(driver->app().deck().shown.code);
  driver->app().deck().shown.code = true;
  driver->settle();
  driver->app().attention().tab_to_show = "code";
  driver->settle();
  CHECK(is_in_front(kCodePanel));
}
