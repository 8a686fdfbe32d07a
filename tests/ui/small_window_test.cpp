// The least window that is said to be enough, 1024x640: what panels say there is whole.
#include <catch2/catch.hpp>

#include "base/temporary_folder.h"
#include "ui/app/window/trainscope_window.h"
#include "ui/kept_pictures.h"
#include "ui/panels/memory/memory_legend.h"
#include "ui/runs.h"
#include "ui/words.h"

using namespace trainscope;
using namespace trainscope::ui;
using Catch::Matchers::Contains;

TEST_CASE("panels that lessons point at shorten nothing in a small window") {
  REQUIRE_DRIVER(driver, 1024, 640);
  const std::pair<const char*, const char*> cases[] = {
      {"occupancy-cliff", "sm-array"},
      {"more-occupancy-is-not-always-faster", "sm-array"},
      {"amp-underflow", "loss-scaling"},
      {"amp-loss-scale", "loss-scaling"}};
  for (const auto& [lesson, panel] : cases) {
    walk_to_result(*driver, lesson);
    driver->app().show_panel(panel);
    driver->settle();
    INFO(lesson << ", " << panel);
    CHECK(ellipses(*ImGui::GetDrawData()) == 0);
    check_words_are_whole();
    check_words_are_apart();
  }
}

TEST_CASE("the colours of memory are named below its chart, on as many lines as they take") {
  REQUIRE_DRIVER(driver, 1024, 640);
  const RunPointer run = run_of("A", {"workload=train", "steps=3", "optimizer.name=adamw"});
  const analysis::MemoryHistory history(*run->trace);
  Theme theme = make_theme(ThemeMode::kDark, 1, driver->window().fonts());
  std::vector<std::string> roles;
  add_drawn_roles(history, {}, roles);
  CHECK(roles.size() > 3);
  const std::vector<std::string> once = roles;
  add_drawn_roles(history, {}, roles);  // of another side that has the same
  CHECK(roles == once);
  const float narrow = memory_legend_height(theme, 120, roles),
              wide = memory_legend_height(theme, 900, roles);
  CHECK(wide > 0);
  CHECK(narrow > 2 * wide);
}

TEST_CASE("what the window would say beside a picture is told, and not drawn over it") {
  {
    REQUIRE_DRIVER(driver, 1024, 640);
  }  // skips where nothing can be drawn
  const test::TemporaryFolder folder;
  PictureRequest request;
  request.lesson = scenario::find_lesson("pinned-vs-pageable");
  request.language = "";
  request.width = 1024;
  request.height = 640;
  const auto draw = [&](const char* name) { return draw_picture(request, folder.path() / name); };
  CHECK(draw("whole.png").empty());
  request.lesson->untranslated = 2;
  CHECK_THAT(draw("partly.png"), Contains("2 of this lesson's texts have no translation"));
  // A notice would take a twentieth of it.
  const Picture whole = read_png(folder.path() / "whole.png"),
                partly = read_png(folder.path() / "partly.png");
  CHECK(difference(whole, partly).share < 0.01);
}
