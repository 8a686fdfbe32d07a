// Every action of the registry, from "Find an action" and from the menu.
#include <imgui_internal.h>

#include <catch2/catch.hpp>

#include "ui/app/actions/action_list.h"
#include "ui/driver.h"
#include "ui/panels/sheets/palette.h"
#include "ui/panels/window/top_bar.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

// The palette and the bar alone: what they ask for is written down, not done.
class Desk : public EngineDriver {
 public:
  Desk() : EngineDriver(1366, 768), workspace_([] {}) {
    theme_ = make_theme(ThemeMode::kDark, 1, window().fonts());
    apply(theme_);
  }

  PalettePanel palette;
  std::vector<std::string> asked;

 private:
  void draw() override {
    static const std::function<bool(std::string_view)> any = [](std::string_view) { return true; };
    const PanelContext context{theme_, workspace_, attention_, asked, any, chosen_};
    draw_top_bar(context);
    draw_palette(context, palette);
  }

  Theme theme_;
  Workspace workspace_;
  Attention attention_;
  std::string chosen_;
};

}  // namespace

TEST_CASE("every action is asked for by its words in the palette and its line in the menu") {
  REQUIRE_ENGINE(desk, Desk);
  for (const ActionInfo& action : actions()) {
    CAPTURE(action.id, action.label);
    desk->asked.clear();
    desk->palette = {};
    desk->palette.open = desk->palette.just_opened = true;
    REQUIRE(desk->act([&](ImGuiTestContext* context) {
      context->Yield(2);
      context->KeyChars(action.label.c_str());
      context->Yield(2);
      context->KeyPress(ImGuiKey_Enter);
    }));
    CHECK(desk->asked == std::vector{action.id});
    CHECK_FALSE(desk->palette.open);

    desk->asked.clear();
    REQUIRE(desk->act([&](ImGuiTestContext* context) {
      context->ItemClick("//##top bar/Menu");
      context->ItemClick(("//$FOCUSED/" + action.label).c_str());
    }));
    CHECK(desk->asked == std::vector{action.id});
  }
}

TEST_CASE("whatever the palette offers, in a lesson and beside one, the window goes on") {
  REQUIRE_DRIVER(driver, 1366, 768);
  const auto begin = [&](bool lesson) {
    if (lesson)
      driver->open_revealed("dp-vs-ddp");
    else
      open_trainings(*driver);
  };
  int done = 0;
  for (const bool lesson : {true, false})
    for (const ActionInfo& action : actions()) {
      if (action.id == "app.quit" || action.id == "link.copy") continue;
      CAPTURE(action.id, lesson);
      begin(lesson);
      if (!driver->app().can(action.id)) continue;
      ++done;
      REQUIRE(driver->act([&](ImGuiTestContext* context) {
        context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_K);
        context->Yield(2);
        context->KeyChars(action.label.c_str());
        context->Yield(2);
        context->KeyPress(ImGuiKey_Enter);
        context->Yield(2);
        context->KeyPress(ImGuiKey_Escape);
      }));
      CHECK(driver->workspace().notice.find("fault of Trainscope") == std::string::npos);
    }
  CHECK(done > 90);
}
