// Without a mouse: a lesson from its first step to its last, knobs, panels and sheets.
#include <imgui_internal.h>

#include <catch2/catch.hpp>
#include <initializer_list>
#include <set>
#include <string>

#include "ui/app/window/layout.h"
#include "ui/driver.h"
#include "ui/panels/comparison/knob_control.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

bool press(Driver& driver, std::initializer_list<ImGuiKeyChord> keys) {
  return driver.act([keys](ImGuiTestContext* context) {
    for (const ImGuiKeyChord key : keys) {
      context->KeyPress(key);
      context->Yield(2);
    }
  });
}

bool type(Driver& driver, const char* words) {
  return driver.act([words](ImGuiTestContext* context) { context->KeyChars(words); });
}

const char* window_with_keys() {
  const ImGuiWindow* window = ImGui::GetCurrentContext()->NavWindow;
  return window ? window->RootWindow->Name : "";
}

// Ctrl+Tab, as often as it takes.
bool go_to_panel(Driver& driver, const char* panel) {
  for (int i = 0; i < 12 && std::string_view(window_with_keys()) != panel; ++i) {
    const int times = i + 1;
    REQUIRE(driver.act([times](ImGuiTestContext* context) {
      context->KeyDown(ImGuiMod_Ctrl);
      for (int k = 0; k < times; ++k) {
        context->KeyPress(ImGuiKey_Tab);
        context->Yield();
      }
      context->KeyUp(ImGuiMod_Ctrl);
      context->Yield(2);
    }));
  }
  return std::string_view(window_with_keys()) == panel;
}

}  // namespace

TEST_CASE("a whole lesson is taken by keyboard alone") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  const Workspace& workspace = driver->workspace();
  const scenario::Progress& progress = workspace.lesson()->progress;

  REQUIRE(press(*driver, {ImGuiKey_N, ImGuiKey_1, ImGuiKey_3}));
  CHECK(progress.answer(1).option == 2);  // changed before it is fixed
  REQUIRE(press(*driver, {ImGuiMod_Ctrl | ImGuiKey_Enter}));
  CHECK(progress.answer(1).committed);
  REQUIRE(press(*driver, {ImGuiKey_N, ImGuiKey_R}));
  REQUIRE(workspace.revealed());

  // The span that is asked for is found by its name.
  REQUIRE(press(*driver, {ImGuiKey_N, ImGuiKey_Slash}));
  REQUIRE(type(*driver, "held: staging"));
  REQUIRE(press(*driver, {ImGuiKey_Enter}));
  CHECK_FALSE(progress.answer(3).committed);  // seen, not answered with
  REQUIRE(press(*driver, {ImGuiKey_Escape, ImGuiMod_Ctrl | ImGuiKey_Enter}));
  CHECK(progress.answer(3).committed);
  CHECK_FALSE(progress.answer(3).skipped);

  REQUIRE(press(*driver, {ImGuiKey_N, ImGuiMod_Shift | ImGuiKey_H, ImGuiKey_N, ImGuiKey_N}));
  REQUIRE(workspace.lesson()->step().kind == scenario::StepKind::kVary);
  REQUIRE(press(*driver, {ImGuiKey_N, ImGuiKey_2, ImGuiMod_Ctrl | ImGuiKey_Enter}));
  CHECK(progress.step() + 1 == progress.steps());
  CHECK(progress.finished());
  REQUIRE(press(*driver, {ImGuiMod_Ctrl | ImGuiKey_L}));
  CHECK(workspace.screen() == Screen::kShelf);
}

TEST_CASE("a number key means an option only where one is asked for") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  CHECK_FALSE(driver->app().can("lesson.option_1"));
  driver->app().run("lesson.next");
  driver->settle();
  const auto options = driver->workspace().lesson()->step().question->options.size();
  CHECK(driver->app().can("lesson.option_1"));
  CHECK(driver->app().can("lesson.option_4") == (options >= 4));
  driver->app().run("lesson.option_1");
  driver->app().run("lesson.predict");
  CHECK_FALSE(driver->app().can("lesson.option_2"));
}

TEST_CASE(
    "the keys begin with the button that goes on, and no panel is closed by the first of them") {
  REQUIRE_DRIVER(driver);
  driver->workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver->settle();
  const scenario::Progress& progress = driver->workspace().lesson()->progress;
  const auto has_keys = [](ImGuiTestContext* context, const char* item) {
    const ImGuiID now = ImGui::GetCurrentContext()->NavId;
    return now != 0 && now == context->ItemInfo(item).ID;
  };
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->KeyPress(ImGuiKey_Tab);
    context->Yield(2);
    CHECK(has_keys(context, "//Lesson##lesson/**/Next"));
    CHECK(ImGui::GetIO().NavVisible);
    context->KeyPress(ImGuiKey_Enter);
    context->Yield(8);
    CHECK(progress.step() == 1);
    CHECK(std::string_view(window_with_keys()) == kLessonPanel);
  }));
  // Tab goes round in a panel without its mark to close it; Ctrl+Tab begins beside that, too.
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    for (int panel = 0; panel < 6; ++panel) {
      context->KeyDown(ImGuiMod_Ctrl);
      for (int i = 0; i <= panel; ++i) context->KeyPress(ImGuiKey_Tab), context->Yield();
      context->KeyUp(ImGuiMod_Ctrl);
      context->Yield(2);
      for (int i = 0; i < 12; ++i) {
        const ImGuiWindow* window = ImGui::GetCurrentContext()->NavWindow;
        REQUIRE(window);
        INFO(window->RootWindow->Name << " after " << i);
        CHECK(ImGui::GetCurrentContext()->NavId != window->RootWindow->GetID("##close"));
        context->KeyPress(ImGuiKey_Tab);
        context->Yield(2);
      }
    }
  }));
}

TEST_CASE("an action goes from panel to panel") {
  REQUIRE_DRIVER(driver);
  walk_to_result(*driver, "pinned-vs-pageable");
  std::set<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    driver->app().run("layout.next_panel");
    driver->settle();
    seen.insert(window_with_keys());
  }
  for (const char* panel : {kLessonPanel, kTimelinesPanel, kKnobsPanel, kCodePanel, kComparePanel})
    CHECK(seen.contains(panel));
}

TEST_CASE("every panel is reached by keys, and a knob is turned by them") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  walk_to_result(*driver, "pinned-vs-pageable");
  for (const char* panel : {kLessonPanel, kTimelinesPanel, kKnobsPanel, kComparePanel}) {
    INFO(panel);
    CHECK(go_to_panel(*driver, panel));
  }
}

TEST_CASE("Tab goes into a panel that was brought to the front") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  walk_to_result(*driver, "pinned-vs-pageable");
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->KeyPress(ImGuiKey_Tab);  // the keys are in use
    context->Yield(2);
    for (const char* panel : {kKnobsPanel, kComparePanel, kLessonPanel}) {
      ImGui::SetWindowFocus(panel);
      context->Yield(2);
      context->KeyPress(ImGuiKey_Tab);
      context->Yield(2);
      INFO(panel);
      CHECK(std::string_view(window_with_keys()) == panel);
      CHECK(ImGui::IsAnyItemFocused());
    }
  }));
}

TEST_CASE("an arrow key turns a slider, and Enter lets its value be typed") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  walk_to_result(*driver, "pinned-vs-pageable");
  Workspace& workspace = driver->workspace();
  REQUIRE(go_to_panel(*driver, kKnobsPanel));
  std::vector<std::int64_t> bytes;
  const auto note = [&] { bytes.push_back(workspace.sides()[0].config.whole("copy.bytes")); };
  // One act: between two the engine lets go of the keys.
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    const auto keys = [&](std::initializer_list<ImGuiKey> all) {
      for (const ImGuiKey key : all) {
        context->KeyPress(key);
        context->Yield(2);
      }
      note();
    };
    const auto enter = [&](const char* words, ImGuiKey end) {
      keys({ImGuiKey_Enter});
      context->KeyCharsReplace(words);
      keys({end});
    };
    const ImGuiID slider = context->ItemInfo("//Knobs##pair/**/copy.bytes@A").ID;
    for (int i = 0; i < 20 && ImGui::GetCurrentContext()->NavId != slider; ++i)
      keys({ImGuiKey_Tab});
    bytes.clear();
    note();
    keys({ImGuiKey_LeftArrow});
    keys({ImGuiKey_RightArrow, ImGuiKey_RightArrow});
    enter("12345", ImGuiKey_Enter);
    enter("99 MB", ImGuiKey_Escape);
    CHECK(workspace.notice.empty());
    enter("many", ImGuiKey_Enter);
  }));
  const std::int64_t before = bytes.front();
  CHECK(bytes == std::vector<std::int64_t>{before, before / 2, 2 * before, 2 * before, 12345, 12345,
                                           12345, 12345, 12345});
  CHECK_THAT(workspace.notice, Catch::Contains("copy.bytes"));
}

TEST_CASE("a double click lets a slider's value be typed, and leaves the handle where it was") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  walk_to_result(*driver, "pinned-vs-pageable");
  const auto bytes = [&] { return driver->workspace().sides()[0].config.whole("copy.bytes"); };
  const std::int64_t before = bytes();
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    context->ItemClick("//Knobs##pair/**/copy.bytes@A");
    context->Yield(2);
    CHECK(bytes() != before);  // a single one moves it
    context->SleepNoSkip(1, 0.1F);
    driver->app().run("knobs.undo");
    context->Yield(3);
    REQUIRE(bytes() == before);
    context->ItemDoubleClick("//Knobs##pair/**/copy.bytes@A");
    context->Yield(2);
    CHECK(bytes() == before);
    CHECK(ImGui::GetIO().WantTextInput);
    context->KeyPress(ImGuiKey_Escape);
  }));
  CHECK(bytes() == before);
}

TEST_CASE("every parameter is found among all of them by its name") {
  REQUIRE_DRIVER(driver, 1920, 1080);
  walk_to_result(*driver, "pinned-vs-pageable");
  driver->app().run("knobs.all");
  driver->settle();
  REQUIRE(driver->act([&](ImGuiTestContext* context) {
    const auto is_found = [context](const std::string& knob) {
      context->ItemInputValue("//All parameters/**/##search", knob.c_str());
      return context->ItemExists(("//All parameters/**/" + knob + "@A").c_str());
    };
    CHECK(is_found("loader.pin_memory"));
    CHECK(is_found("batch_size"));
    CHECK(is_found("loader.drop_last"));
    CHECK(is_found("power_limit"));
  }));
}

TEST_CASE("a step of a slider stays within the knob's range and always goes somewhere else") {
  for (const program::Knob& knob : program::knobs()) {
    const bool number = knob.type == program::KnobType::kInteger ||
                        knob.type == program::KnobType::kBytes ||
                        knob.type == program::KnobType::kNumber;
    if (!number) continue;
    for (const int direction : {-1, 1}) {
      program::Value now = knob.initial;
      for (int i = 0; i < 100; ++i) {
        CAPTURE(knob.name, direction, i, program::spell(now));
        const program::Value next = stepped(knob, now, direction);
        REQUIRE_NOTHROW(program::Config().set(knob.name, next));
        const double to = std::holds_alternative<double>(next)
                              ? std::get<double>(next)
                              : static_cast<double>(std::get<std::int64_t>(next));
        if (next == now) {
          CHECK(to == (direction > 0 ? knob.most : knob.least));
          break;
        }
        now = next;
      }
    }
  }
}
