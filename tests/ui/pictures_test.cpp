// Pictures to look at, on demand: TRAINSCOPE_PICTURES=FOLDER tests_ui '[.pictures]'
#include <catch2/catch.hpp>
#include <filesystem>
#include <thread>

#include "ui/app/window/layout.h"
#include "ui/runs.h"

using namespace trainscope;
using namespace trainscope::ui;

namespace {

void walk_to_reveal(Driver& driver, const char* lesson) {
  driver.open_revealed(lesson);
  driver.workspace().next_step();
  driver.settle();
}

struct Gallery {
  Driver& driver;
  std::filesystem::path folder;
  std::string suffix;

  void save(const std::string& name) {
    driver.settle();
    write_png(folder / (name + suffix + ".png"), driver.window().capture());
  }
};

void draw_gallery(Gallery& gallery) {
  Driver& driver = gallery.driver;
  Workspace& workspace = driver.workspace();
  const auto show = [&] {
    driver.app().run("layout.copy_path");
    driver.settle();
  };
  driver.workspace().open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver.settle();
  show();
  gallery.save("before");
  for (const char* lesson : {"pinned-vs-pageable", "num-workers"}) {
    walk_to_reveal(driver, lesson);
    show();
    workspace.playhead.time = end_of_sides(workspace) * 3 / 10;
    gallery.save(std::string("path-") + lesson);
  }
  workspace.playhead.by_step = true;
  workspace.playhead.time = workspace.sides()[0].view->trace->end() / 2;
  gallery.save("by-step");
  workspace.playhead.by_step = false;
  workspace.playhead.time = end_of_sides(workspace);
  gallery.save("right-edge");
  workspace.playhead.time = 0;
  gallery.save("left-edge");
  workspace.open_runs({run_of("A", {"workload=copy", "copy.direction=d2h"}),
                       run_of("B", {"workload=train", "loop.item_every=1"})});
  driver.settle();
  show();
  gallery.save("path-back");
  workspace.open_runs({run_of("A", {"workload=train", "loader.pin_memory=true"})});
  driver.settle();
  show();
  gallery.save("path-single");
  workspace.open_runs({run_of("A", {"workload=train"}), run_of("B", {"workload=train"})});
  driver.settle();
  workspace.set_knob(0, "steps", std::int64_t{100000});
  for (int i = 0; i < 400 && workspace.busy(); ++i) {
    driver.frame();
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
    if (workspace.sides()[0].progress.share > 0.2) break;
  }
  driver.frame();
  write_png(gallery.folder / ("progress" + gallery.suffix + ".png"), driver.window().capture());
  driver.app().run("run.cancel");
  gallery.save("cancelled");
}

// The machines, two machines, a span's details, and what shares a place where there is little room.
void draw_choices(Gallery& gallery) {
  Driver& driver = gallery.driver;
  Workspace& workspace = driver.workspace();
  walk_to_reveal(driver, "pinned-vs-pageable");
  const trace::Trace& trace = *workspace.sides()[0].view->trace;
  for (trace::SpanId span = 0; span < trace.spans().size(); ++span)
    if (trace.spans()[span].cause != trace::Cause::kNothing && trace.spans()[span].line > 0)
      driver.app().attention().timeline.selected = {Side::kA, span};
  driver.app().attention().tab_to_show = "code";
  gallery.save("span");
  driver.app().attention().timeline.selected = {};
  for (const char* panel : {"knobs", "compare"}) {
    driver.app().show_panel(panel);
    gallery.save(std::string("tab-") + panel);
  }
  driver.app().choose_machine("B", "laptop-1");
  gallery.save("two-machines");
  driver.app().open_machines(1);
  gallery.save("machines");
  driver.act([](ImGuiTestContext* context) { context->KeyPress(ImGuiKey_Escape); });
}

void press_key(Driver& driver, ImGuiKey key) {
  for (const bool down : {true, false}) {
    ImGui::GetIO().AddKeyEvent(key, down);
    driver.frame();
    driver.frame();
  }
}

// The ring of who goes by keys; a number that is typed; a training whose numbers still come.
void draw_keys(Gallery& gallery) {
  Driver& driver = gallery.driver;
  Workspace& workspace = driver.workspace();
  workspace.open_lesson(scenario::find_lesson("pinned-vs-pageable"));
  driver.settle();
  press_key(driver, ImGuiKey_N);
  ImGui::SetWindowFocus(kLessonPanel);
  for (int i = 0; i < 3; ++i) press_key(driver, ImGuiKey_Tab);
  gallery.save("ring-answer");
  walk_to_reveal(driver, "pinned-vs-pageable");
  ImGui::SetWindowFocus(kKnobsPanel);
  for (int i = 0; i < 11; ++i) press_key(driver, ImGuiKey_Tab);
  gallery.save("ring-knob");
  press_key(driver, ImGuiKey_Enter);
  gallery.save("sweep-by-key");
  ImVec2 slider;
  driver.act([&](ImGuiTestContext* context) {
    slider = context->ItemInfo("//Knobs##pair/**/copy.bytes@A").RectClipped.GetCenter();
  });
  ImGui::GetIO().AddMousePosEvent(slider.x, slider.y);
  for (const bool down : {true, false, true, false}) {
    ImGui::GetIO().AddMouseButtonEvent(0, down);
    driver.frame();
  }
  gallery.save("typed");
  press_key(driver, ImGuiKey_Escape);
  walk_to_reveal(driver, "amp-loss-scale");
  driver.app().show_panel("loss");
  driver.settle();
  workspace.set_knob(0, "steps", std::int64_t{3000});
  for (int i = 0; i < 8 && workspace.busy(); ++i) {
    for (int k = 0; k < 10; ++k) {
      driver.frame();
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    write_png(gallery.folder / ("numbers-come-" + std::to_string(i) + ".png"),
              driver.window().capture());
  }
}

}  // namespace

TEST_CASE("pictures of keys and of numbers that come", "[.pictures]") {
  const auto folder = pictures_folder();
  REQUIRE(folder);
  REQUIRE_DRIVER(driver, 1920, 1080);
  Gallery gallery{*driver, *folder, ""};
  draw_keys(gallery);
}

TEST_CASE("pictures of the copy path, the playhead and a long run", "[.pictures]") {
  const auto folder = pictures_folder();
  REQUIRE(folder);
  for (const auto& [width, height] : {std::pair{1920, 1080}, std::pair{1366, 768}})
    for (const ThemeMode mode : kThemeModes) {
      REQUIRE_DRIVER(driver, width, height);
      driver->app().set_theme(mode);
      Gallery gallery{*driver, *folder,
                      "-" + std::to_string(width) + "-" + std::string(name_of(mode))};
      draw_choices(gallery);
      draw_gallery(gallery);
    }
}
